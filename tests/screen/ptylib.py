"""A program on a pty whose slave end we keep open, to read its modes afterwards."""
import fcntl, os, pty, select, signal, struct, termios, time

failures = []


class Terminal:
    def __init__(self, command, columns=100, rows=30, environment={}):
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.slave)
        self.seen = b""
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
            for fd in range(3):
                os.dup2(self.slave, fd)
            os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8", **environment)
            os.execv(command[0], command)

    def resize(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def keys(self, text):
        os.write(self.master, text)

    def read(self, seconds):
        end = time.time() + seconds
        while (left := end - time.time()) > 0:
            if not select.select([self.master], [], [], left)[0]:
                break
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                break

    def until(self, text, seconds=30):
        end = time.time() + seconds
        while text not in self.seen and time.time() < end:
            if select.select([self.master], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.master, 65536)
                except OSError:
                    time.sleep(0.05)
        return text in self.seen

    def wait(self, seconds=60):
        """The wait status; None when it had to be killed."""
        end = time.time() + seconds
        while time.time() < end:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.read(0.05)
                return status
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None

    def close(self):
        os.close(self.master)
        os.close(self.slave)

    def check_restored(self, name):
        check(f"{name}: modes as before", termios.tcgetattr(self.slave) == self.before)
        check(f"{name}: left the other screen", self.seen.rfind(b"\x1b[?1049l") > self.seen.rfind(b"\x1b[?1049h"))
        check(f"{name}: the cursor is shown",
              self.seen.rfind(b"\x1b[?25h") > self.seen.rfind(b"\x1b[?25l") or b"\x1b[?12l\x1b[?25h" in self.seen)


def check(name, ok, detail=""):
    print(f"  {'ok' if ok else 'FAILED'}  {name} {detail if not ok else ''}")
    if not ok:
        failures.append(name)


def code(number):
    return lambda status: status is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) == number


def killed(number):
    return lambda status: status is not None and os.WIFSIGNALED(status) and os.WTERMSIG(status) == number
