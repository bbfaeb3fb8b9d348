# golden.awk: runs the commands of a transcript and compares what they print. See run_golden.sh for the form of a file.
# Variables: room (a folder for scratch files; commands run in room/work), update (1: rewrite what differs), out (new file).
function trimmed(line) { line = substr(line, 2); if (substr(line, 1, 1) == " ") line = substr(line, 2); return line }

# Do expected lines e[i..] match actual lines a[j..]? "..." stands for any number of lines, "~ RE" for a line that matches.
function matches(e, ne, a, na, i, j,    k, re) {
    for (; i <= ne; i++) {
        if (e[i] == "...") {
            for (k = j; k <= na + 1; k++) if (matches(e, ne, a, na, i + 1, k)) return 1
            return 0
        }
        if (j > na) return 0
        if (substr(e[i], 1, 2) == "~ ") { re = "^(" substr(e[i], 3) ")$"; if (a[j] !~ re) return 0 }
        else if (e[i] != a[j]) return 0
        j++
    }
    return j > na
}

function slurp(file, lines,    n, line) {
    n = 0
    while ((getline line < file) > 0) lines[++n] = line
    close(file)
    return n
}

function shown(mark, line) { return line == "" ? mark : mark " " line }

function finish(    no, ne, nx, i, rc, good) {
    if (command == "") return
    print command > (room "/command"); close(room "/command")
    system("cd '" room "/work' && sh '" room "/command' > '" room "/stdout' 2> '" room "/stderr' < /dev/null; echo $? > '" room "/rc'")
    system("sed -i 's|" room "|ROOM|g' '" room "/stdout' '" room "/stderr'")
    no = slurp(room "/stdout", so); ne = slurp(room "/stderr", se); nx = slurp(room "/rc", sx); rc = sx[1] + 0
    good = rc == exit_code && matches(wo, nwo, so, no, 1, 1) && matches(we, nwe, se, ne, 1, 1)
    cases++
    if (!good) failed++
    if (!good && !update) {
        printf "  FAILED  %s: $ %s\n", FILENAME, command
        for (i = 1; i <= nwo; i++) print "    expected " shown("|", wo[i])
        for (i = 1; i <= nwe; i++) print "    expected " shown("!", we[i])
        print "    expected = " exit_code
        for (i = 1; i <= no; i++) print "    found    " shown("|", so[i])
        for (i = 1; i <= ne; i++) print "    found    " shown("!", se[i])
        print "    found    = " rc
    }
    if (update && !good && rc >= 126) { print "  NOT RECORDED, it crashed or was not found: $ " command; good = 1 }
    if (update && good) { no = nwo; ne = nwe; for (i = 1; i <= no; i++) so[i] = wo[i]; for (i = 1; i <= ne; i++) se[i] = we[i] }
    if (update) {
        print "$ " command > out
        for (i = 1; i <= no; i++) print shown("|", so[i]) > out
        for (i = 1; i <= ne; i++) print shown("!", se[i]) > out
        if (rc != 0) print "= " rc > out
    }
    command = ""
}

/^\$ /  { finish(); command = substr($0, 3); nwo = nwe = exit_code = 0; next }
/^\|/   { wo[++nwo] = trimmed($0); next }
/^!/    { we[++nwe] = trimmed($0); next }
/^= /   { exit_code = $2; next }
        { finish(); if (update) print > out }
END     { finish(); printf "%d %d\n", cases, failed > (room "/counts") }
