#!/bin/sh
# bare-root.sh [FOLDER]: the README's two commands in a bare Debian 12 made by debootstrap: nothing in it but git, make and the
# machine's own package sources, no CUDA toolkit. Needs root, debootstrap and a network. Prints what was found and how long it
# took; exits 1 when a promise does not hold: exit 0 of `make sweep` in under 6 minutes, at least 60 `ok` trials over more than
# one batch and precision, each with samples, interval and both errors; `make test` green in under 10 minutes.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
root=${1:-$(mktemp -d /var/tmp/nntune-root.XXXXXX)}
[ "$(id -u)" -eq 0 ] || { echo "bare-root: needs root" >&2; exit 1; }
command -v debootstrap > /dev/null || { echo "bare-root: apt-get install debootstrap" >&2; exit 1; }

cleanup() {
    for m in dev/shm dev/pts proc; do umount "$root/$m" 2> /dev/null || true; done
    [ -n "${KEEP:-}" ] || rm -rf "$root"
}
trap cleanup EXIT INT TERM

chmod 755 "$root" # it becomes /, which everybody may enter

mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null |
    sed -n -e 's/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\) .*/\2/p' -e 's/^URIs: *\([^ ]*\).*/\1/p' | head -1)
debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$root" ${mirror:+"$mirror"} > "$root.log" 2>&1 ||
    { tail -20 "$root.log" >&2; exit 1; }
rm -f "$root.log"
# the machine's own way to its packages
for f in sources.list sources.list.d apt.conf apt.conf.d trusted.gpg.d auth.conf auth.conf.d; do
    [ ! -e "/etc/apt/$f" ] || { rm -rf "$root/etc/apt/$f"; cp -a "/etc/apt/$f" "$root/etc/apt/$f"; }
done
for f in /etc/resolv.conf /etc/hosts; do cp -L "$f" "$root$f" 2> /dev/null || true; done
cp -a /usr/share/keyrings/. "$root/usr/share/keyrings/" 2> /dev/null || true
[ ! -d /usr/local/share/ca-certificates ] || cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/"
cp -a /etc/ssl/certs/. "$root/etc/ssl/certs/" 2> /dev/null || true
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/pts" "$root/dev/shm"
mount -t devpts devpts "$root/dev/pts" 2> /dev/null || true
mount -t tmpfs tmpfs "$root/dev/shm"

git clone -q "$top" "$root/root/nntune"
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} sh -c "cd /root/nntune && $1"; }

failed=0
judge() { # name, figure, comparison, bar
    if [ "$2" "$3" "$4" ]; then verdict=holds; else verdict=short; failed=1; fi
    printf '%-52s %8s   bar %s %s   %s\n' "$1" "$2" "$3" "$4" "$verdict"
}
begin=$(date +%s)
code=0; inside "make sweep" || code=$?
took=$(($(date +%s) - begin))
db=/root/.local/share/nntune/nntune.db
sql() { inside "command -v sqlite3 > /dev/null || apt-get install -y -q sqlite3 > /dev/null 2>&1; sqlite3 $db \"$1\""; }
judge "make sweep: exit code" "$code" -eq 0
judge "make sweep: seconds, installation included" "$took" -lt 360
judge "ok trials" "$(sql "select count(*) from trials where outcome = 'ok'")" -ge 60
judge "batches" "$(sql "select count(distinct batch) from trials where outcome = 'ok'")" -ge 2
judge "precisions" "$(sql "select count(distinct precision) from trials where outcome = 'ok'")" -ge 2
judge "ok trials without samples, interval or errors" "$(sql "select count(*) from trials where outcome = 'ok' and (samples < 6 or time_lo_ns is null or time_hi_ns is null or error_impl is null or error_prec is null)")" -eq 0
begin=$(date +%s)
code=0; inside "make test" || code=$?
took=$(($(date +%s) - begin))
judge "make test: exit code" "$code" -eq 0
judge "make test: seconds" "$took" -lt 600
exit $failed
