#!/bin/sh
# install_deps.sh build|test|report ...: installs the Debian packages that are missing, as root or with sudo. Says nothing and does
# nothing where all is there. The CUDA toolkit is never installed: it comes from NVIDIA's own installer.
set -eu
missing=
need() { # package, then a test that holds when it is there
    package=$1; shift
    "$@" > /dev/null 2>&1 || missing="$missing $package"
}
header() { for d in /usr/include /usr/local/include "/usr/include/$(uname -m)-linux-gnu"; do [ -f "$d/$1" ] && return 0; done; return 1; }
tool() { command -v "$1"; }

for what in "$@"; do
    case $what in
    build)
        need gcc tool cc
        need libc6-dev header stdio.h
        need binutils tool ar
        need libsqlite3-dev header sqlite3.h
        need libjansson-dev header jansson.h
        need zlib1g-dev header zlib.h
        need libxxhash-dev header xxhash.h
        need libncurses-dev header ncurses.h
        ;;
    test)
        need libcmocka-dev header cmocka.h
        need sqlite3 tool sqlite3
        need procps tool pgrep
        need util-linux tool setsid
        need tmux tool tmux
        need python3 tool python3
        need gnuplot-nox tool gnuplot
        ;;
    report)
        need chromium tool chromium
        ;;
    *) echo "usage: $0 build|test|report ..." >&2; exit 2 ;;
    esac
done
[ -n "$missing" ] || exit 0
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo > /dev/null; then as_root=sudo
    else echo "nntune: not root and no sudo; install these yourself:$missing" >&2; exit 1; fi
fi
if ! command -v apt-get > /dev/null; then
    echo "nntune: no apt-get here; install what these Debian packages hold:$missing" >&2; exit 1
fi
echo "installing:$missing"
log=$(mktemp)
# A run that another apt-get holds up waits for it; the log is shown only when something fails.
apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -q"
if ! { $apt update && $apt install -y --no-install-recommends $missing; } > "$log" 2>&1; then
    cat "$log" >&2; rm -f "$log"
    echo "nntune: installing failed; by hand: apt-get install$missing" >&2
    exit 1
fi
rm -f "$log"
