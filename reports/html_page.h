/* html_page.h: what is the same on every report page: style, and the script that sorts tables. */
#ifndef NT_HTML_PAGE_H
#define NT_HTML_PAGE_H

extern const char nt_html_style[];
extern const char nt_html_script[];

#endif
