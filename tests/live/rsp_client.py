"""As much of a debugger as it takes to trace, and what /proc tells of a program: for tests that
need their own timing rather than GDB's.

Not a test itself (not executable).
"""

import contextlib
import pathlib
import re
import select
import subprocess
import time

import serve_client
from replay_common import fast_option
from trace_common import TRACEWELL, check, listening


def symbols(program):
    """Its symbols' addresses, as the file has them."""
    text = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return {name: int(value, 16) for value, _, name in re.findall(r"(\w+) (\w) (\w+)\n", text)}


def bias(pid, program):
    """Of a position-independent program: where its first byte is mapped."""
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        if line.endswith(str(program)):
            return int(line.split("-")[0], 16)
    raise LookupError(f"{program} is not mapped")


def code(pid, address, size=16):
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(address)
        return memory.read(size)


def children_of(pid):
    return [int(one) for one in
            pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def status(pid, key):
    """A line of /proc/PID/status; "" when there is no such process."""
    try:
        text = pathlib.Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the latter when it ends meanwhile
        return ""
    return re.search(rf"^{key}:\s+(\S+)", text, re.MULTILINE)[1]


def wait_until(condition, what):
    end = time.monotonic() + 30
    while not condition():
        check(time.monotonic() < end, f"{what}: not within 30 s")
        time.sleep(0.001)


class Client(serve_client.Client):
    """With what it takes to trace."""

    def __init__(self, port):
        super().__init__(f"localhost:{port}")

    def ask(self, packet, expected="OK"):
        got = self.say(packet)
        check(expected is None or got == expected, f"{packet}: {got}")
        return got

    def socket_has_data(self, seconds):
        return bool(select.select([self.socket], [], [], seconds)[0])

    def trace(self, addresses, disconnected=False):
        """Defines a tracepoint at each address, that collects all registers, and starts."""
        self.ask("QTinit")
        self.ask(f"QTDisconnected:{int(disconnected)}")
        self.ask("QTBuffer:circular:1")
        for number, address in enumerate(addresses, 1):
            self.ask(f"QTDP:{number}:{address:016x}:E:0:0-")
            self.ask(f"QTDP:-{number}:{address:016x}:R0fff")
        return self.console("QTStart")

    def notes(self):
        """What tstatus shows of the server's."""
        return bytes.fromhex(re.search(r"notes:(\w*)", self.ask("qTStatus", None))[1]).decode()

    def monitor(self, command):
        return self.console("qRcmd," + command.encode().hex())

    def frames_created(self):
        return int(re.search(r"tcreated:(\w+)", self.ask("qTStatus", None))[1], 16)

    def stands_after(self, frames):
        """Stops the program. It runs on unless so many frames are there."""
        self.socket.sendall(b"\x03")
        reply = self.receive()
        check(reply.startswith("T"), f"stopped: {reply}")
        if self.frames_created() >= frames:
            return True
        self.send("vCont;c")
        return False


@contextlib.contextmanager
def serving(*words):
    """`tracewell serve`; yields (server, port, pid of its program or 0)."""
    with listening([TRACEWELL, "serve", *fast_option(), *words]) as server:
        port = int(re.search(r"Listening on port (\d+)", server.said)[1])
        program = re.search(r"pid = (\d+)", server.said)
        yield server, port, int(program[1]) if program else 0
