"""What happens to a service: a debugger attaches to it, traces, and detaches; or something is
killed meanwhile.
"""

import contextlib
import os
import random
import re
import signal
import subprocess
import threading
import time

from .common import ANSWER_SECONDS, Finding, demand, end, settle, status
from .debugger import Ended, Gdb, Refused, Server, Silent
from .groups import make_group
from .looks import Before, look_at_family, look_for_strangers
from .no_folder import NoFolder
from .reader import Frames, Reader
from .services import Postgres, Session

DEATH_SECONDS = 1  # until a parent knows that its child was killed
END_SECONDS = 10
PLACED_SECONDS = 30
ANYWHERE_SECONDS = 3  # from the beginning of an event: when somebody is killed in it
CHECKED_BYTES = 2 << 20  # a buffer that was left behind is read when it is no larger
SAVED_FRAMES = 3000  # and so many are saved at most
ACTIONS = ("collect $regs", "collect $rdi, $rip", "collect *(long *) $rdi@2", "collect $rsp, $rdx")
ANEW_SECONDS = 0.5  # at most, until a run begins anew
VICTIMS = ("nobody",) * 5 + ("gdb", "gdb", "server", "server", "service", "service", "tracer",
                             "ended server")
SERVER_LIMIT = 64 << 20


def counted(text):
    """Of `tstatus`: (kept, created)."""
    found = re.search(r"contains (\d+) trace frames \(of (\d+) created", text)
    if found:
        return int(found[1]), int(found[2])
    found = re.search(r"Collected (\d+) trace frames", text)
    demand(found, f"tstatus tells no number of frames: {text!r}")
    return int(found[1]), int(found[1])


def hits_of(text):
    """Of `info tracepoints`: of each."""
    parts = re.split(r"^\d+ +(?:fast )?tracepoint ", text, flags=re.MULTILINE)[1:]
    found = [re.search(r"already hit (\d+) time", one) for one in parts]
    return [int(one[1]) if one else 0 for one in found]


class Event:
    """One, chosen by its random numbers."""

    def __init__(self, soak, number, rng):
        self.soak = soak
        self.number = number
        self.service = rng.choice(soak.services)
        self.watch = soak.watches[self.service.name]
        self.victim = rng.choice(VICTIMS)
        self.anywhere = rng.random() < 0.5 and self.victim in ("gdb", "server", "service")
        self.moment = rng.random() * ANYWHERE_SECONDS
        self.running = soak.attaches_running and rng.random() < 0.5
        self.disconnects = self.victim in ("nobody", "server", "service") and rng.random() < 0.3
        self.traps = rng.random() < 0.25 and self.victim != "tracer"
        self.steps = 2 if self.traps and rng.random() < 0.3 else 0
        self.quiet = rng.random() < 0.5
        self.circular = rng.random() < 0.8
        self.megabytes = rng.choice((1, 1, 5, 20, 100))
        self.condition = rng.random() < 0.3
        self.dwells = 0.5 + 3 * rng.random()
        self.limited = self.victim == "nobody" and soak.can_limit and rng.random() < 0.2
        self.forks = isinstance(self.service, Postgres) and rng.random() < 0.25
        names = ["fork_process"] if self.forks else [self.service.points[0]]
        if not self.forks and rng.random() < 0.5:
            names.append(rng.choice(self.service.points[1:]))
        # What is pointed to is not looked at where no argument is a pointer.
        self.points = [(name, rng.choice(ACTIONS[:2] if self.forks else ACTIONS)) for name in names]
        self.struck = threading.Event()
        self.trouble = None
        self.gdbs = []
        self.server = None
        self.choose_parties(random.Random(f"{soak.seed}/{number}/parties"))

    def choose_parties(self, rng):
        """Who else takes part. These are random numbers of their own: those of before stay."""
        self.no_folder = None
        if self.wants("no-folder", rng, 0.2):
            self.no_folder = NoFolder(self.soak.work, rng)
        self.reads = not self.no_folder and self.wants("reader", rng, 0.5)
        self.reader_rng = random.Random(rng.random())
        self.reader = None
        self.moments = [ANEW_SECONDS * rng.random() for _ in range(rng.choice((0, 1, 3)))]
        if self.disconnects:
            self.moments = []
        self.stops_first = rng.random() < 0.7

    def wants(self, party, rng, often):
        return rng.random() < (1 if party in self.soak.parties else often)

    def __str__(self):
        parts = [self.service.name + (" (its first process)" if self.forks else ""),
                 "running" if self.running else "all-stop",
                 "traps" if self.traps else "pads", f"{self.megabytes} MB"]
        for words, is_so in (("circular", self.circular), ("steps", self.steps),
                             ("disconnects", self.disconnects), ("exact", self.quiet),
                             ("server with a memory limit", self.limited),
                             ("read meanwhile", self.reads),
                             (f"without a folder ({self.no_folder})", self.no_folder),
                             (f"begun anew {len(self.moments)} times", self.moments)):
            parts += [words] if is_so else []
        if self.victim != "nobody":
            parts.append(f"kill: {self.victim}" + (f" after {self.moment:.1f} s" if self.anywhere
                                                   else ""))
        return ", ".join(parts)

    # What is killed.

    def strike(self):
        """Kills the victim. What is found is for the thread that runs the event."""
        try:
            self.kill_victim()
        except (Finding, OSError) as error:
            self.trouble = error

    def victim_is_there(self):
        return self.gdbs if self.victim == "gdb" else self.server or self.victim == "service"

    def kill_victim(self):
        settle(self.victim_is_there, f"{self.victim} is not there")
        if self.victim == "service":
            self.service.down = True
            self.may_end()
            self.struck.set()
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            settle(lambda: self.service.gone(self.pid), f"process {self.pid} was killed, and its "
                   "parent is not told", DEATH_SECONDS)
            return
        number = signal.SIGTERM if self.victim == "ended server" else signal.SIGKILL
        if self.victim != "server":
            self.may_end()
        doomed = {"gdb": lambda: self.gdbs[-1].pid, "tracer": lambda: int(
            status(self.pid, "TracerPid"))}.get(self.victim, lambda: self.server.pid)()
        demand(doomed, f"process {self.pid} has no tracer while it is traced")
        self.struck.set()
        os.kill(doomed, number)
        if self.victim == "ended server":
            begin = time.monotonic()
            demand(self.server.ended(END_SECONDS), f"the server does not end in {END_SECONDS} s of "
                   "SIGTERM")
            self.soak.longest("server_end", time.monotonic() - begin)

    # What a debugger does.

    def begin_server(self, group):
        options = [] if self.disconnects else ["--once"]
        options += ["--fast-tracepoints", "none"] if self.traps else []
        options.append("--attach-running" if self.running else "--attach")
        environment = self.soak.environment
        if self.no_folder:
            environment = {**environment, "XDG_RUNTIME_DIR": self.no_folder.path}
        self.server = Server(self.soak.binary, self.soak.work, self.pid, options, environment,
                             group)
        port = self.server.wait_for_port()
        if self.reads:
            self.reader = Reader(self.soak, self.reader_rng,
                                 self.soak.files.folder / f"{self.server.pid}.twb", self.frames())
        return port

    def frames(self):
        """What those in the buffer may look like."""
        points = {number: actions for number, (_, actions) in enumerate(self.points, 1)}
        return Frames(self.pid, points, self.steps, not self.forks)

    def debugger(self):
        """One that has read the program's symbols, and is not connected yet."""
        settings = ["set non-stop on"] if self.running else []
        gdb = Gdb(self.soak.work, os.path.realpath(f"/proc/{self.pid}/exe"), settings)
        self.gdbs.append(gdb)
        gdb.say("show version")
        return gdb

    def define_once_placed(self, gdb, command, lines):
        """GDB knows where a program that runs is once it has taken note of the stop that it asked
        for. It may take a command first."""
        until = time.monotonic() + PLACED_SECONDS
        while True:
            try:
                return gdb.define(command, lines)
            except Refused as error:
                late = time.monotonic() > until
                if not self.running or late or "Cannot access memory" not in str(error):
                    raise
            time.sleep(0.05)

    def define(self, gdb):
        kind = "trace" if self.traps else "ftrace"
        for name, actions in self.points:
            lines = [actions]
            if self.steps:
                lines += [f"while-stepping {self.steps}", "collect $rip", "end"]
            condition = " if $rsp != 0" if self.condition else ""
            self.define_once_placed(gdb, f"{kind} *{name}{condition}", lines)
        gdb.say(f"set trace-buffer-size {self.megabytes << 20}")
        gdb.say(f"set circular-trace-buffer {'on' if self.circular else 'off'}")
        gdb.say(f"set disconnected-tracing {'on' if self.disconnects else 'off'}")

    def start(self, group):
        """From nothing to a service that runs and is traced."""
        gdb = self.debugger()
        if not self.running:
            self.watch.begin_stand()
        port = self.begin_server(group)
        gdb.say(f"target remote localhost:{port}")
        self.connected = True
        self.define(gdb)
        try:
            gdb.say("tstart")
        except Refused as error:
            if self.struck.is_set():
                raise  # of a server that is gone GDB says many things
            # Nothing else may be wrong.
            demand(self.limited and "does not fit" in str(error), f"tstart: {error}")
            self.soak.count("refused for want of memory")
            self.may_end()
            gdb.say("detach")
            return None, port
        if self.disconnects:
            gdb.say("disconnect")
            gdb.close()
        elif not self.running:
            gdb.go_on()
        return gdb, port

    def finish(self, gdb, port):
        """The end of the run, and what came of it: (stopped by itself, hits)."""
        if self.disconnects:
            gdb = self.debugger()
        if not self.running:
            self.watch.begin_stand()
        if self.disconnects:
            gdb.say(f"target remote localhost:{port}")
        elif not self.running:
            self.soak.longest("interrupt", gdb.interrupt())
        text = gdb.say("tstatus")
        full = "buffer was full" in text
        demand(full or "Trace is running" in text, f"the run did not go on: {text}")
        if not full:
            gdb.say("tstop")
        text = gdb.say("tstatus")
        hits = hits_of(gdb.say("info tracepoints"))
        kept, created = counted(text)
        self.compare_buffer(kept, created)
        self.look_at_frames(gdb, kept)
        self.may_end()
        gdb.say("detach")
        demand(len(hits) == len(self.points), f"{len(hits)} tracepoints instead of "
               f"{len(self.points)}")
        full = full or "buffer was full" in text
        return full, hits[0], self.compare_frames(full, hits, kept, created, text)

    def compare_buffer(self, kept, created):
        if self.reader:
            self.reader.compare(kept, created)
        if self.no_folder:
            self.no_folder.look_at_run(self.server)

    def compare_frames(self, full, hits, kept, created, told=""):
        """Of a run that is over. Returns how many hits were lost, as it was told."""
        lost = 0
        if self.steps or full:
            demand(created >= sum(hits) - len(hits) * full, f"{created} frames of {hits} hits")
        else:
            lost = self.lost(created - sum(hits), told)
        demand(kept <= created, f"{kept} frames kept of {created}")
        self.soak.count("hits", sum(hits))
        self.soak.count("frames kept", kept)
        return lost

    def may_end(self):
        """The server, in order: it removes its file."""
        if self.reader:
            self.reader.may_be_gone = True

    def begin_anew(self, gdb):
        """Another run, with what is defined: the buffer is emptied."""
        if not self.running:
            self.watch.begin_stand()
            gdb.interrupt()
        if self.stops_first and "Trace is running" in gdb.say("tstatus"):
            gdb.say("tstop")
        gdb.say("tstart")
        if not self.running:
            gdb.go_on()
        self.soak.longest("stand_anew", self.watch.end_stand())
        self.soak.count("runs begun anew")

    def lost(self, count, told):
        """Hits that are frames only in the number of those created. A tracer that gets no processor
        for longer than a hit waits at a full ring cannot take them, and that is told so."""
        late = self.soak.control.late_between(self.began, time.monotonic())
        demand(count == 0 or count > 0 and late and not self.traps, f"{count} frames more than "
               f"hits were created: {told}")
        self.soak.count("hits lost while processes had to wait", count)
        return count

    def look_at_frames(self, gdb, kept):
        if not kept:
            return
        gdb.say("tfind start")
        for _ in range(min(3, kept - 1)):
            gdb.say("tfind")
        dump = gdb.say("tdump")
        demand("Data collected at tracepoint" in dump, f"tdump: {dump!r}")
        gdb.say("tfind none")
        if kept <= SAVED_FRAMES:
            path = self.soak.work / "saved.tf"
            gdb.say(f"tsave {path}")
            self.soak.check_file(path, kept)
            path.unlink()

    def calm(self):
        return self.service.quiet() if self.quiet and not self.forks else contextlib.nullcontext()

    def trace(self, group):
        """A whole run, whose hits are between what the service counts around it."""
        with self.calm():
            first = self.count()[0]
            gdb, port = self.start(group)
            self.soak.longest("stand", self.watch.end_stand())
            began = self.count()[1]
        if not gdb:
            return
        for moment in self.moments:
            time.sleep(moment)
            with self.calm():
                first = self.count()[0]
                self.begin_anew(gdb)
                began = self.count()[1]
        self.dwell()
        with self.calm():
            ending = self.count()[0]
            full, hits, lost = self.finish(gdb, port)
            self.soak.longest("stand_at_end", self.watch.end_stand())
            last = self.count()[1]
        low = 0 if full else ending - began
        demand(low <= hits + lost and hits <= last - first, f"{hits} hits of {self.points[0][0]}, "
               f"and {lost} lost, though {self.service.name} counts {low} to {last - first}")
        self.soak.count("runs compared")
        self.soak.count("runs compared exactly", low == last - first)

    def dwell(self):
        end_of_it = time.monotonic() + self.dwells
        if self.forks:
            self.connect_often()
        if not self.traps and re.search("is a trap|are traps", self.server.said()):
            self.soak.count("runs with traps instead of pads")
            if self.victim == "tracer":
                self.victim = "nobody"  # the program would die of it
        if self.victim != "nobody" and not self.anywhere:
            time.sleep(self.dwells / 2)
            self.strike()
            raise Ended("the victim was killed")
        while time.monotonic() < end_of_it and not self.struck.is_set():
            time.sleep(0.02)
        if self.struck.is_set():
            raise Ended("the victim was killed")

    def connect_often(self):
        """Postgres makes a process for each, which works while and after its parent is traced."""
        sessions = []
        for _ in range(5):
            self.connections += 1
            sessions.append(Session(self.service.port))
            demand(sessions[-1].query("select 6 * 7") == b"42", "a new connection's answer")
        for one in sessions:
            one.socket.close()

    def count(self):
        return (self.connections, self.connections) if self.forks else self.service.count()

    # What is looked at.

    def run(self):
        self.connections = 0
        self.began = time.monotonic()
        self.connected = False
        self.pid = self.service.root.pid if self.forks else self.service.traced_pid()
        before = Before(self.pid)
        self.left_before = self.soak.files.names()
        group = make_group("server", SERVER_LIMIT) if self.limited else None
        timer = threading.Timer(self.moment, self.strike) if self.anywhere else None
        try:
            if timer:
                timer.start()
            self.trace(group)
        except Finding as finding:
            # Where the service is dead, it counts nothing.
            if not self.struck.is_set() or self.victim != "service" or isinstance(finding, Silent):
                raise
        except (Ended, Refused, OSError) as error:
            if not self.struck.is_set():
                raise Finding(f"{error}; GDB's last words: "
                              f"{self.gdbs[-1].last_words() if self.gdbs else ''}; the server's: "
                              f"{self.server.said() if self.server else ''}") from None
        finally:
            if timer:
                timer.cancel()
                timer.join()
            self.close(group)
        if self.trouble:
            raise Finding(str(self.trouble))
        self.look(before)

    def close(self, group):
        """Ends what is there still; the service has to go on alone then."""
        self.may_end()
        try:
            if self.connected and not self.disconnects and self.victim != "service":
                self.gdbs[-1].close()
                demand(self.server.ended(END_SECONDS), "the server does not end with its "
                       f"debugger's connection (--once), in {END_SECONDS} s")
            if self.server and self.server.process.poll() is None:
                self.server.process.terminate()
                demand(self.server.ended(END_SECONDS), "the server does not end in "
                       f"{END_SECONDS} s of SIGTERM")
            if group:
                settle(lambda: not group.killed(), "the server was killed at its memory limit")
        finally:
            for one in self.gdbs:
                one.close()
            if self.server:
                end(self.server.process)
            with contextlib.suppress(Finding):
                settle(lambda: status(self.pid, "TracerPid") in ("0", ""), "")
            self.watch.end_stand()
            if group:
                group.remove()
            if self.reader:
                self.reader.stop()

    def look(self, before):
        service = self.service
        if self.victim == "service" and self.struck.is_set():
            service.revive()
        tracer_killed = self.victim == "tracer" and self.struck.is_set()
        if tracer_killed:
            # Pads stay, and work: their code and their memory are in the program.
            before.look(pads_may_stay=True)
            demand(os.path.exists(f"/proc/{self.pid}"), f"{service.name} is dead because its "
                   "tracer was killed while it had pads alone")
            self.answers()
            service.down = True
            end(service.root)
            service.revive()
        else:
            before.look()
        self.answers()
        look_at_family(service.root.pid)
        look_for_strangers(self.soak.known())
        self.look_at_files()
        demand(not (self.soak.box and self.soak.box.killed()), "a service was killed at its memory "
               "limit")

    def answers(self):
        begin = time.monotonic()
        self.service.ask()
        took = self.watch.without_stands(begin, time.monotonic())
        if self.soak.control.late_between(begin, time.monotonic()):
            return
        demand(took <= ANSWER_SECONDS, f"{self.service.name} answers after {took:.2f} s, though "
               "all is over")

    def look_at_files(self):
        files = self.soak.files
        files.look()
        news = files.names() - self.left_before
        if self.victim == "nobody":
            demand(not news, f"a run that was ended properly leaves {', '.join(news)}")
        if self.no_folder:
            demand(not news, f"a server without a folder leaves {', '.join(news)}")
            self.no_folder.look(self.server)
        for one in news:
            self.soak.count("buffers left")
            path = files.folder / one
            if path.stat().st_blocks * 512 <= CHECKED_BYTES:
                self.soak.check_file(path, None)


def check_file(binary, path, frames):
    """A trace that it must find nothing wrong with."""
    done = subprocess.run([binary, "check", path], capture_output=True, text=True, timeout=300)
    demand(done.returncode == 0, f"tracewell check {path} ends with {done.returncode}: "
           f"{done.stdout}{done.stderr}")
    if frames is not None:
        text = subprocess.run([binary, "info", path], capture_output=True, text=True).stdout
        demand(re.search(rf"\b{frames} frames? kept|records +{frames}\b", text),
               f"tsave of {frames} frames: {text}")
