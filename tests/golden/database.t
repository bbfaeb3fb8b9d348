# Databases that cannot be used: exit 1, the file stays as it was.
$ nntune best
! nntune: there is no database at ROOM/home/.local/share/nntune/nntune.db
!   `nntune sweep conv3x3` makes one; --db names another file
= 1
$ nntune best --db nope.db
! nntune: there is no database at nope.db
!   `nntune sweep conv3x3` makes one; --db names another file
= 1
$ nntune sweep conv3x3 --device fake --db nowhere/t.db
! nntune: nowhere/t.db cannot be made: folder nowhere: No such file or directory
!   make it first: mkdir -p nowhere
= 1
$ mkdir folder; nntune sweep conv3x3 --device fake --db folder
! nntune: folder is a folder, not a database file
!   name a file in it, for example --db folder/nntune.db
= 1
$ nntune best --db folder
! nntune: folder is a folder, not a database file
!   name a file in it, for example --db folder/nntune.db
= 1
$ nntune best --db /dev/null
! nntune: /dev/null is a special file, not a database file
!   name another file with --db
= 1
$ echo 'this is no database, only a text of some length' > text.db; nntune best --db text.db
! nntune: text.db: the file is not an nntune database, reading its header
!   name another file with --db
= 1
$ nntune sweep conv3x3 --device fake --db text.db; cat text.db
| this is no database, only a text of some length
! nntune: text.db: the file is not an nntune database, reading its header
!   name another file with --db
$ : > empty.db; nntune runs --db empty.db
! nntune: empty.db is empty: no result was stored in it yet
!   `nntune sweep conv3x3 --db empty.db` fills it
= 1
$ sqlite3 other.db 'create table x (y)'; nntune best --db other.db
! nntune: other.db is the SQLite database of another program, not an nntune database
!   name another file with --db; the file was not changed
= 1
$ nntune sweep conv3x3 --device fake --db other.db; sqlite3 other.db .tables
| x
! nntune: other.db is the SQLite database of another program, not an nntune database
!   name another file with --db; the file was not changed
$ cp results.db newer.db; sqlite3 newer.db 'pragma user_version = 99'; cp newer.db before.db; nntune best --db newer.db
! ~ nntune: newer.db has schema version 99; this nntune 0.1.0 knows versions up to [0-9]+
!   use the newer nntune that wrote it, or name another file with --db; the file was not changed
= 1
$ nntune sweep conv3x3 --device fake --db newer.db
! ~ nntune: newer.db has schema version 99; this nntune 0.1.0 knows versions up to [0-9]+
!   use the newer nntune that wrote it, or name another file with --db; the file was not changed
= 1
$ cmp newer.db before.db
$ cp results.db torn.db; truncate -s 20000 torn.db; nntune best --db torn.db
! nntune: torn.db: the file is damaged, reading its header
!   copy it away, then save what is readable: sqlite3 FILE .recover | sqlite3 NEW.db
= 1
$ nntune best --db "$(printf '%01100d' 1)"
! nntune: --db: the path is longer than 1023 bytes
= 2

# A database that may be read only. (Run as somebody else where the tests run as root, whom nothing stops.)
$ cp results.db ro.db; chmod 444 ro.db; chmod 777 . ..; U=; [ "$(id -u)" != 0 ] || U='setpriv --reuid=65534 --clear-groups'; $U nntune best --db ro.db | head -2
| problem                                                   trial    time     95 % interval          rate  images/s  kernel  parameters
| Example CPU (CPU-0001)
$ U=; [ "$(id -u)" != 0 ] || U='setpriv --reuid=65534 --clear-groups'; $U nntune sweep conv3x3 --device fake --db ro.db
! nntune: ro.db cannot be written: Permission denied
!   make it writable, or name another file with --db
= 1
