"""A client of the remote protocol that sends packets before it has read the answers to those ahead
of them, and reads all answers in order then.
"""

import contextlib
import re
import socket
import struct
import time

from .common import Finding, demand
from .debugger import Ended, Refused, Silent

ANSWER_SECONDS = 60
WAITS_EACH_SECONDS = 0.5
PIECE_PAUSE = 0.002
ANSWER = re.compile(r"\$(?!O(?!K))")  # what else begins with an O is printed


def expanded(text):
    """Without run lengths: `0*"` is 0000."""
    return re.sub(r"(?s)(.)\*(.)", lambda run: run[1] * (ord(run[2]) - 28), text)


def frame(body):
    data = body.encode()
    return data if data == b"\x03" else b"$%s#%02x" % (data, sum(data) % 256)


class Typist:
    def __init__(self, port, rng):
        self.rng = rng
        self.socket = socket.create_connection(("localhost", port), timeout=ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data = b""
        self.open = True
        self.since = time.monotonic()
        self.to_acknowledge = self.acknowledged = 0
        self.no_ack = False
        self.sent = []  # what waits for an answer
        self.log = []

    def type(self, *bodies):
        """All at once, or in pieces that end anywhere."""
        for one in bodies:
            if one != "\x03":
                self.sent.append(one)
                self.to_acknowledge += not self.no_ack
            self.no_ack |= one == "QStartNoAckMode"
        self.log += [f"> {one!r}" for one in bodies]
        self.push(b"".join(frame(one) for one in bodies))

    def push(self, data):
        places = sorted(self.rng.randrange(len(data)) for _ in range(self.rng.choice((0, 0, 1, 5))))
        try:
            for begin, end in zip([0, *places], [*places, len(data)]):
                self.socket.sendall(data[begin:end])
                if places:
                    time.sleep(PIECE_PAUSE * self.rng.random())
        except OSError as error:
            raise Ended(f"nothing more can be sent: {error}") from None

    def more(self):
        try:
            data = self.socket.recv(65536)
        except TimeoutError:
            raise Silent(f"no answer to {self.sent[:1]} in {ANSWER_SECONDS} s") from None
        except OSError as error:
            raise Ended(f"nothing more can be read: {error}") from None
        if not data:
            raise Ended("the server closed the connection")
        self.data += data

    def item(self):
        """The next thing that comes: b"+", or a packet or notification with its first byte."""
        while not self.data:
            self.more()
        kind = self.data[:1]
        if kind == b"+":
            self.data = self.data[1:]
            return "+"
        demand(kind in b"$%", f"the server sends {self.data[:40]!r} between packets")
        while not 0 < self.data.find(b"#") <= len(self.data) - 3:
            self.more()
        end = self.data.index(b"#")
        body, told = self.data[1:end], self.data[end + 1:end + 3]
        self.data = self.data[end + 3:]
        demand(int(told, 16) == sum(body) % 256, f"the checksum of {body[:80]!r} is wrong")
        return kind.decode() + expanded(body.decode("latin-1"))

    def answer(self, expected=None):
        """To the oldest packet that has none yet: what matches the expression. What is printed in
        front of it is left out."""
        packet = self.sent.pop(0)
        while True:
            item = self.item()
            if item == "+":
                self.acknowledged += 1
                continue
            self.log.append(f"< {item[:200]!r}")
            text = item[1:]
            if ANSWER.match(item):
                break
        # Each was acknowledged once, ahead of its answer. Who waits long for one gets more.
        patience = int((time.monotonic() - self.since) / WAITS_EACH_SECONDS)
        most = self.to_acknowledge + patience
        demand(self.sent or self.to_acknowledge <= self.acknowledged <= most,
               f"{self.acknowledged} packets were acknowledged, and {self.to_acknowledge} were to "
               f"be (or {most}, if the answers took long)")
        if text[:1] == "E":
            raise Refused(f"{packet} is answered by {text}")
        demand(expected is None or re.fullmatch(expected, text), f"{packet!r} is answered by "
               f"{text[:300]!r} instead of {expected!r}")
        return text

    def answers(self, *expected):
        return [self.answer(one) for one in expected]

    def until_closed(self):
        """How many packets were answered until the server closed."""
        count = 0
        with contextlib.suppress(Ended):
            while True:
                count += bool(ANSWER.match(self.item()))
        return count

    def end_of_typing(self):
        """Nothing more is sent; what comes is read still."""
        self.socket.shutdown(socket.SHUT_WR)

    def vanish(self):
        """From another thread, too."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)

    def reset(self):
        """As from a machine that is gone."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close()

    def close(self):
        self.open = False
        self.vanish()
        self.socket.close()

    def last_words(self):
        return "; ".join(self.log[-12:])
