"""What a server and a replay do alike while a packet takes long to answer: they are there for
whoever wants it to end, or them."""

import signal
import socket

import serve_client
from serve_common import check, same

PACKETS = {"qSearch": "qSearch:memory:{:x};{:x};ABCD", "qCRC": "qCRC:{:x},{:x}"}


class Talk:
    """With a server that logs its packets. The one that takes long is about `size` bytes from
    `begin` on; `some` of them take a while."""

    def __init__(self, running, client, remote, kind, begin, size, some):
        self.running, self.client, self.remote = running, client, remote
        self.packet = PACKETS[kind].format(begin, size)
        self.some = PACKETS[kind].format(begin, some)
        self.times = 0

    def ask(self, behind=b""):
        """Returns while it works."""
        self.client.socket.sendall(serve_client.frame(self.packet) + behind)
        self.times += 1
        self.running.wait_for(f'packet: "{self.packet[:12]}', self.times)

    def is_interrupted(self):
        same(self.client.receive(), "E.interrupted", self.packet)
        check(self.client.say("qC").startswith("QC"), "it goes on")

    def hears_ctrl_c(self):
        self.ask(b"\x03")
        self.is_interrupted()
        self.ask()
        self.client.socket.sendall(b"\x03")
        self.is_interrupted()

    def keeps_it_waiting(self):
        """GDB gives up on an answer that has not begun after two seconds."""
        self.ask()
        same([self.client.socket.recv(1) for _ in range(3)], [b"+"] * 3, "while it works")
        self.client.socket.sendall(b"\x03")
        self.is_interrupted()

    def misses_its_client(self):
        self.ask()
        self.client.vanish()
        self.client = serve_client.Client(self.remote)
        check(self.client.say("qC").startswith("QC"), "the next one is served")

    def has_sent_all(self):
        """Who ends its side of the connection may listen on: `nc -N`, and packets from a pipe."""
        self.client.socket.sendall(serve_client.frame(self.some))
        self.client.socket.shutdown(socket.SHUT_WR)
        found = "C" if self.some.startswith("qCRC") else "0"
        check(self.client.receive().startswith(found), self.some)
        same(self.client.socket.recv(1), b"", "and that is the end")
        self.client = serve_client.Client(self.remote)

    def ends(self):
        self.ask()
        same(self.running.stop(), 128 + signal.SIGTERM, "status")

    def all_of_it(self, sends_all=True):
        try:
            self.hears_ctrl_c()
            self.keeps_it_waiting()
            self.misses_its_client()
            if sends_all:
                self.has_sent_all()
            self.ends()
        finally:
            self.running.process.kill()
            self.running.process.wait()
