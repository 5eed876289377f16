"""The remote protocol by hand, for tests that need to know what is said when.

Not a test itself (not executable).
"""

import re
import socket

from replay_common import check


def expanded(text):
    """Without run lengths: `0*"` is 0000."""
    return re.sub(r"(?s)(.)\*(.)", lambda run: run[1] * (ord(run[2]) - 28), text)


def frame(body):
    data = body if isinstance(body, bytes) else body.encode()
    return b"$%s#%02x" % (data, sum(data) % 256)


class Client:
    """One connection, without acknowledgements."""

    def __init__(self, remote):
        host, port = remote.split(":")
        if host == "unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(60)
            self.socket.connect(port)
        else:
            self.socket = socket.create_connection((host, int(port)), timeout=60)
        self.bytes = b""
        self.say("QStartNoAckMode")
        self.say("qSupported:")  # who says nothing but words may be a browser

    def send(self, body):
        self.socket.sendall(frame(body))

    def receive(self):
        while True:
            start = self.bytes.find(b"$")
            end = self.bytes.find(b"#", start)
            if start >= 0 and end >= 0 and len(self.bytes) >= end + 3:
                body, self.bytes = self.bytes[start + 1:end], self.bytes[end + 3:]
                return expanded(body.decode("latin-1"))
            more = self.read_some()
            check(more, "the server closed the connection")
            self.bytes += more

    def read_some(self):
        return self.socket.recv(65536)

    def say(self, body):
        self.send(body)
        return self.receive()

    def console(self, packet):
        """What is said before the answer, which is OK."""
        self.send(packet)
        said = ""
        while (got := self.receive()) != "OK":
            check(got.startswith("O"), f"{packet}: {got}")
            said += bytes.fromhex(got[1:]).decode()
        return said

    def vanish(self):
        self.socket.close()
