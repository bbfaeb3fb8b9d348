# Captures of every view through tmux at five sizes, in colour, without, and in ASCII, compared with tests/screen/golden.
# UPDATE=1 rewrites those that differ; read the diff before you commit it.
here=$TESTS/screen
command -v tmux > /dev/null || { echo "tmux is not installed: apt-get install tmux" >&2; exit 1; }
sh "$here/make_db.sh" t.db
export TZ=UTC TERM=xterm-256color XDG_RUNTIME_DIR="$PWD/run" XDG_CONFIG_HOME="$PWD/config"
mkdir run
escape=$(printf '\033')
tmux=
trap '[ -z "$tmux" ] || $tmux kill-server 2> /dev/null || true' EXIT

settled() { # the screen once it stands still
    previous=
    for _ in $(seq 100); do
        sleep 0.05
        now=$($tmux capture-pane -p $1)
        case $now in *reading\ ...*) previous=; continue ;; esac
        [ "$now" != "$previous" ] || { printf '%s\n' "$now"; return; }
        previous=$now
    done
    printf '%s\n' "$now"
}

show() { # FLAGS VIEWS: captures of these views of the session that runs
    for view in $2; do
        $tmux send-keys $view
        printf '======== view %s\n' $view
        # What follows the last character of a line shows nothing, and how it came there depends on what stood there before.
        settled "$1" | sed "s/\($escape\[[0-9;]*m\)*\$//"
    done
}

capture() { # MODE WIDTHxHEIGHT VIEWS OPTIONS
    case $1 in
    color) options=; flags=-e ;;
    mono) options="--color never"; flags=-e ;;
    ascii) options="--ascii --color never"; flags= ;;
    esac
    # A server of its own for each: one that ends would take the next session with it.
    sessions=$((${sessions:-0} + 1))
    tmux="tmux -f /dev/null -L nntune-$$-$sessions"
    $tmux new-session -d -x "${2%x*}" -y "${2#*x}" \
        "env LC_ALL=C.UTF-8 '$NNTUNE' top --play t.db --speed 1000000 --trial 12 --tag 12,40,100 $options $4 2> err"
    $tmux set-option -g status off > /dev/null
    $tmux resize-window -x "${2%x*}" -y "${2#*x}"
    [ -z "$4" ] || sleep 3 # the first frame of a device lacks what is measured between two
    show "$flags" "$3"
    $tmux kill-server 2> /dev/null || true
    tmux=
}

# A GPU to watch: tests/unit/fake_nvidia*.c answers for one. A build without CUDA's headers watches none.
cc -shared -fPIC -o libfake.so "$TESTS/unit/fake_nvidia.c" "$TESTS/unit/fake_nvidia_tools.c"
export NNTUNE_LIBCUDA="$PWD/libfake.so" NNTUNE_NVML="$PWD/libfake.so" NNTUNE_NVRTC="$PWD/libfake.so" FAKE_PID=4000002 FAKE_NVLINK=0
gpu=yes
"$NNTUNE" devices -q | grep -q '^cuda:0' || gpu=

failed=0
for mode in color mono ascii; do
    for size in 120x40 80x24 60x16 40x10 20x4; do
        capture $mode $size "1 2 3 4 5 6 7 8 9" "" > found
        printf '\n======== with a GPU\n' >> found
        [ -z "$gpu" ] || capture $mode $size "7 1" "--device cuda:0" >> found
        golden=$here/golden/$mode-$size.txt
        if [ -n "${UPDATE:-}" ]; then cp found "$golden"; continue; fi
        [ -n "$gpu" ] || { sed '/^======== with a GPU/q' "$golden" > without; golden=without; }
        diff -u "$golden" found || { echo "$mode at $size differs" >&2; failed=1; }
    done
done
exit $failed
