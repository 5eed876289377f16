"""The services of the soak: how each is started, loaded, asked whether it answers, and what it
counts itself of what a tracepoint counts.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

from .common import (Finding, children_of, command_of, demand, end, free_port, read, settle,
                     start, status, threads_of)

START_SECONDS = 60


class Service:
    """One that runs, with its load. `points` are functions; `count` tells calls of the first."""

    name = ""
    needs = ()
    points = ()
    user = None  # whom it runs as, where this is root

    def __init__(self, work):
        self.folder = work / self.name
        self.folder.mkdir(mode=0o755)
        if self.user:
            shutil.chown(self.folder, self.user)
        self.port = free_port()
        self.root = None  # its first process
        self.load = None
        self.down = False  # on purpose
        self.born = 0  # how often it was started
        self.restarts = 0

    @classmethod
    def missing(cls):
        return [one for one in cls.needs if not shutil.which(one)]

    def log(self, what):
        return self.folder / f"{what}.log"

    def words(self):
        raise NotImplementedError

    def load_words(self):
        raise NotImplementedError

    def prepare(self):
        """Once, before it is started first."""

    def run(self):
        self.root = start(self.words(), self.log("service"), cwd=self.folder)
        self.wait_until_up()
        self.load = start(self.load_words(), self.log("load"), cwd=self.folder)
        self.born += 1
        self.down = False

    def wait_until_up(self):
        end_of_patience = time.monotonic() + START_SECONDS
        while True:
            try:
                return self.ask()
            except (OSError, Finding) as error:
                demand(time.monotonic() < end_of_patience, f"{self.name} does not start: {error}")
                demand(self.root.poll() is None, f"{self.name} ended when it was started, with "
                       f"{self.root.returncode}: {read(self.log('service'))[-500:]}")
                time.sleep(0.02)

    def stop(self):
        self.down = True
        end(self.load)
        end(self.root)

    def traced_pid(self):
        return self.root.pid

    def strike(self):
        """Kills what is traced; ends when nothing of it is left, as its parent would see it."""
        pid = self.traced_pid()
        self.down = True
        os.kill(pid, signal.SIGKILL)
        return pid

    def gone(self, pid):
        """Its parent took notice of its end."""
        if self.root.pid == pid:
            return self.root.poll() is not None
        return not os.path.exists(f"/proc/{pid}")

    def revive(self):
        """After its end, or that of a part."""
        self.stop()
        self.run()
        self.restarts += 1

    @contextlib.contextmanager
    def quiet(self):
        """Nothing asks it for anything."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.load.pid, signal.SIGSTOP)
        try:
            self.wait_until_quiet()
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.load.pid, signal.SIGCONT)

    def wait_until_quiet(self):
        """Two looks at its own count differ by what the looks themselves make."""
        last = [self.count()[1]]

        def same():
            time.sleep(0.02)
            now = self.count()[1]
            before, last[0] = last[0], now
            return now - before <= self.of_a_look

        settle(same, f"{self.name} goes on working though its load stands")

    of_a_look = 0  # what a look at its count adds to it

    def count(self):
        """(at least, at most) so many calls of the first of its points were begun."""
        raise NotImplementedError

    def ask(self, seconds=10):
        """Something that it has to answer rightly."""
        raise NotImplementedError


def exchanged(port, request, is_whole, seconds=10):
    """The answer of who listens there."""
    with socket.create_connection(("127.0.0.1", port), timeout=seconds) as one:
        one.sendall(request)
        got = b""
        while not is_whole(got):
            more = one.recv(65536)
            if not more:
                break
            got += more
        return got


class Redis(Service):
    name = "redis"
    needs = ("redis-server", "redis-benchmark")
    points = ("getCommand", "processCommand", "lookupKey", "setCommand")

    def words(self):
        return ["redis-server", "--port", self.port, "--bind", "127.0.0.1", "--save", "",
                "--maxmemory", "16mb", "--maxmemory-policy", "allkeys-lru"]

    def load_words(self):
        return ["redis-benchmark", "-p", self.port, "-c", "4", "-l", "-q", "-t", "get,set", "-r",
                "1000", "-d", "100"]

    def ask(self, seconds=10):
        got = exchanged(self.port, b"PING\r\n", lambda got: got.endswith(b"\r\n"), seconds)
        demand(got == b"+PONG\r\n", f"{self.name} answers {got!r} instead of +PONG")

    def count(self):
        got = exchanged(self.port, b"INFO commandstats\r\n",
                        lambda got: b"\r\n" in got and len(got) >= int(got[1:got.index(b"\r")]) +
                        got.index(b"\r") + 4)
        found = re.search(rb"cmdstat_get:calls=(\d+)", got)
        calls = int(found[1]) if found else 0
        return calls, calls


class Boxed(Redis):
    """Another one, in a PID namespace and with a memory limit, as in a container."""

    name = "boxed-redis"
    needs = (*Redis.needs, "unshare")
    group = None

    def words(self):
        words = ["unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child",
                 *super().words()]
        return self.group.command(words) if self.group else words

    def load_words(self):
        words = super().load_words()
        words[words.index("-c") + 1] = "1"
        return words

    def traced_pid(self):
        return children_of(self.root.pid)[0]


NGINX = """
daemon off; user nobody nogroup; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 256; }}
http {{ access_log off; client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
  fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  server {{ listen 127.0.0.1:{port}; root {folder}/root; location = /status {{ stub_status; }} }} }}
"""


class Nginx(Service):
    """What is traced is its worker, whose end is its master's business."""

    name = "nginx"
    needs = ("nginx", "wrk")
    points = ("ngx_http_process_request", "ngx_palloc", "ngx_http_core_run_phases")
    of_a_look = 1
    content = bytes(range(256)) * 16

    def prepare(self):
        (self.folder / "root").mkdir()
        (self.folder / "root/file").write_bytes(self.content)
        text = NGINX.format(folder=self.folder, port=self.port)
        if os.getuid() != 0:
            text = text.replace("user nobody nogroup; ", "")
        (self.folder / "nginx.conf").write_text(text)

    def words(self):
        return ["nginx", "-c", self.folder / "nginx.conf", "-p", self.folder]

    def load_words(self):
        return ["wrk", "-t1", "-c4", "-d", "100000", f"http://127.0.0.1:{self.port}/file"]

    def get(self, path, seconds=10):
        request = f"GET {path} HTTP/1.0\r\nHost: soak\r\n\r\n".encode()
        head, _, body = exchanged(self.port, request, lambda got: False,
                                  seconds).partition(b"\r\n\r\n")
        demand(head.startswith(b"HTTP/1.1 200"), f"{self.name} answers {head[:60]!r} to {path}")
        return body

    def ask(self, seconds=10):
        demand(self.get("/file", seconds) == self.content, f"{self.name} serves another content")

    def count(self):
        calls = int(self.get("/status").split(b"\n")[2].split()[2])
        return calls, calls

    def traced_pid(self):
        return children_of(self.root.pid)[0]

    def revive(self):
        if self.root.poll() is not None:
            return super().revive()
        settle(lambda: children_of(self.root.pid), f"{self.name}'s master has no worker")
        self.restarts += 1
        self.wait_until_up()
        self.down = False


def packet(kind, body):
    return kind + struct.pack("!I", len(body) + 4) + body


class Session:
    """A connection to postgres, by its protocol, that sends simple queries."""

    def __init__(self, port, seconds=10):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=seconds)
        self.data = b""
        self.pid = 0
        self.socket.sendall(packet(b"", struct.pack("!I", 196608) +
                                   b"user\0postgres\0database\0postgres\0\0"))
        self.until_ready()

    def take(self, size):
        while len(self.data) < size:
            more = self.socket.recv(65536)
            if not more:
                raise ConnectionError("postgres closed the connection")
            self.data += more
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def until_ready(self):
        """The first column of the first row until it is ready for more."""
        value = None
        while True:
            kind, size = struct.unpack("!cI", self.take(5))
            body = self.take(size - 4)
            if kind == b"E":
                raise ConnectionError(f"postgres says {body!r}")
            if kind == b"K":
                self.pid = struct.unpack("!I", body[:4])[0]
            if kind == b"D" and value is None:
                value = body[6:6 + struct.unpack("!i", body[2:6])[0]]
            if kind == b"Z":
                return value

    def query(self, text):
        self.socket.sendall(packet(b"Q", text.encode() + b"\0"))
        return self.until_ready()


class Postgres(Service):
    """What is traced is the process behind one connection, over which this program sends queries
    and counts them; pgbench loads it beside that."""

    name = "postgres"
    needs = ("pgbench", "setpriv")
    points = ("raw_parser", "PortalRun", "CreatePortal")
    user = "postgres" if os.getuid() == 0 else None
    PAUSE = 0.0005  # between queries: the others want to run, too

    def __init__(self, work):
        super().__init__(work)
        self.begun = self.done = 0
        self.session = None
        self.still = threading.Event()
        self.lock = threading.Lock()

    @classmethod
    def programs(cls):
        found = shutil.which("pgbench")
        folders = [os.path.dirname(os.path.realpath(found))] if found else []
        library = "/usr/lib/postgresql"
        folders += [f"{library}/{one}/bin" for one in
                    (sorted(os.listdir(library)) if os.path.isdir(library) else [])]
        return next((one for one in folders if os.path.exists(f"{one}/postgres") and
                     os.path.exists(f"{one}/initdb")), None)

    @classmethod
    def missing(cls):
        return super().missing() or ([] if cls.programs() else ["postgres"])

    def as_user(self, *words):
        if self.user:
            words = ("setpriv", f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups",
                     *words)
        return [str(one) for one in words]

    def prepare(self):
        data = self.folder / "data"
        done = subprocess.run(self.as_user(f"{self.programs()}/initdb", "-D", data, "-A", "trust",
                                           "-U", "postgres", "--no-sync"),
                              capture_output=True, text=True, cwd=self.folder)
        demand(done.returncode == 0, f"initdb fails: {done.stderr}")

    def words(self):
        settings = [f"port={self.port}", "listen_addresses=127.0.0.1", "jit=off", "fsync=off",
                    f"unix_socket_directories={self.folder}", "autovacuum=off",
                    "shared_buffers=16MB"]
        return self.as_user(f"{self.programs()}/postgres", "-D", self.folder / "data",
                            *(word for one in settings for word in ("-c", one)))

    def run(self):
        with self.lock:
            self.session = None
        super().run()

    def load_words(self):
        to = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "postgres"]
        if not self.born:
            done = subprocess.run(["pgbench", "-i", "-q", *to], capture_output=True, text=True)
            demand(done.returncode == 0, f"pgbench -i fails: {done.stderr}")
        return ["pgbench", "-S", "-n", "-c", "2", "-T", "100000", *to]

    def ask(self, seconds=10):
        """Sent over the traced connection, and so is what the thread of `works` sends."""
        with self.lock:
            if not self.session:
                self.session = Session(self.port, seconds)
            self.session.socket.settimeout(seconds)
            self.begun += 1
            asked = self.begun
            try:
                got = self.session.query(f"select {asked} * 3")
            except OSError:
                self.session = None
                raise
            self.done += 1
        demand(got == str(asked * 3).encode(), f"{self.name} says {got} to {asked} * 3")

    def works(self, is_over):
        """The load of the traced connection, in a thread."""
        while not is_over.wait(self.PAUSE):
            if not self.still.is_set() and not self.down:
                with contextlib.suppress(OSError):
                    self.ask(60)

    @contextlib.contextmanager
    def quiet(self):
        self.still.set()
        try:
            with super().quiet():
                yield
        finally:
            self.still.clear()

    def count(self):
        return self.done, self.begun

    def traced_pid(self):
        with self.lock:
            demand(self.session, f"{self.name}: nothing is connected")
            return self.session.pid

    def revive(self):
        """The end of one process of it makes it restart all by itself."""
        if self.root.poll() is not None:
            return super().revive()
        with self.lock:
            self.session = None
        self.wait_until_up()
        end(self.load)
        self.load = start(self.load_words(), self.log("load"), cwd=self.folder)
        self.restarts += 1
        self.down = False


KINDS = (Redis, Nginx, Postgres, Boxed)


def described(pid):
    return f"process {pid} ({command_of(pid)[:60]}, {len(threads_of(pid))} threads, tracer " \
           f"{status(pid, 'TracerPid')})"
