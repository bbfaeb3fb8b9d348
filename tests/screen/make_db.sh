# make_db.sh FILE: a database of the fixture. The program itself makes the schema; its rows give way to the fixture's.
here=$(dirname "$0")
"$NNTUNE" sweep conv3x3 --device fake --shape 4x7x7 --budget 2 -q --db "$1" > sweep.log 2>&1 || { cat sweep.log >&2; exit 1; }
tables=$(sqlite3 "$1" "select name from sqlite_schema where type = 'table' and name not like 'sqlite%'")
for table in $tables; do echo "delete from $table;"; done | sqlite3 -bail "$1"
sqlite3 -bail "$1" < "$here/fixture.sql"
