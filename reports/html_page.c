/* html_page.c: the page reads well without the script; with it, a click or Enter on a heading sorts by that column.
 *
 * Pictures are drawn for a light page; in the dark they are turned over, which keeps their hues. Tables and pictures
 * that are wider than the screen scroll by themselves, so that the page does not. */
#include "reports/html_page.h"

const char nt_html_style[] =
    ":root{color-scheme:light dark;--b:#fff;--f:#1b1b1b;--s:#5a5a5a;--l:#d5d5d5;--h:#f2f4f7;--a:#005a94}"
    "@media(prefers-color-scheme:dark){:root{--b:#15171a;--f:#e8e8e8;--s:#a5a9b0;--l:#3a3f47;--h:#20242a;--a:#7cc0f0}"
    "figure svg{filter:invert(1) hue-rotate(180deg)}}"
    "*{box-sizing:border-box}html{overflow-wrap:anywhere}"
    "body{margin:0 auto;max-width:1240px;padding:0 16px 48px;background:var(--b);color:var(--f);"
    "font:16px/1.5 system-ui,sans-serif}"
    "h1{font-size:1.6rem;line-height:1.25;margin:24px 0 8px}h2{font-size:1.25rem;margin:32px 0 8px}"
    "h3{font-size:1.05rem;margin:24px 0 6px}"
    "p{max-width:75ch;margin:8px 0}a{color:var(--a)}.n{color:var(--s);font-size:.9rem}"
    ".w{overflow-x:auto;margin:8px "
    "0}table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;color:var(--s);padding:4px 0}"
    "th,td{padding:4px 10px;border-bottom:1px solid var(--l);text-align:right;vertical-align:top;white-space:nowrap}"
    "th{background:var(--h);text-align:right;font-weight:600}td.x,th.x{text-align:left}td.p{text-align:left;white-"
    "space:"
    "normal;min-width:32ch;overflow-wrap:normal}tr.b td{font-weight:600}"
    "th[tabindex]{cursor:pointer}th[aria-sort=ascending]::after{content:' \\2191'}"
    "th[aria-sort=descending]::after{content:' \\2193'}"
    ".f{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,580px),1fr));gap:8px 24px}"
    "figure{margin:12px 0;overflow-x:auto;min-width:0}figure "
    "svg{display:block;width:100%;min-width:560px;max-width:860px;height:auto}"
    "figcaption{color:var(--s);font-size:.9rem;max-width:75ch}details{margin:8px 0}summary{cursor:pointer}"
    "@media print{figure svg{filter:none}}";

const char nt_html_script[] =
    "for(const t of document.querySelectorAll('table')){const b=t.tBodies[0];"
    "[...t.tHead.rows[0].cells].forEach((h,i)=>{h.tabIndex=0;h.title='sort';const s=()=>{"
    "const up=h.getAttribute('aria-sort')!=='ascending';"
    "for(const o of t.tHead.rows[0].cells)o.removeAttribute('aria-sort');"
    "h.setAttribute('aria-sort',up?'ascending':'descending');"
    "const k=r=>{const c=r.cells[i],v=c.dataset.v??c.textContent,n=parseFloat(v);return[isNaN(n),n,v]};"
    "[...b.rows].map(r=>[k(r),r]).sort(([x],[y])=>x[0]!==y[0]?x[0]-y[0]:(up?1:-1)*(x[0]?x[2].localeCompare(y[2]):x[1]-"
    "y[1]))"
    ".forEach(([,r])=>b.append(r))};h.onclick=s;h.onkeydown=e=>{if(e.key==='Enter'||e.key===' "
    "'){e.preventDefault();s()}}})}";
