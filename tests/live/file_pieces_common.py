"""A file of the server's machine, as a debugger reads it.

Not a test itself (not executable).
"""

from replay_common import check, same

PACKET = 0x20000


def unescaped(text):
    out, raw = bytearray(), iter(text.encode("latin-1"))
    for byte in raw:
        out.append(next(raw) ^ 0x20 if byte == 0x7d else byte)
    return bytes(out)


class File:
    def __init__(self, client, path):
        self.client = client
        reply = client.say(f"vFile:open:{str(path).encode().hex()},0,0")
        check(reply[0] == "F" and reply[1] != "-", reply)
        self.number = reply[1:]

    def read(self, offset, count=PACKET):
        head, data = self.client.say(f"vFile:pread:{self.number},{count:x},{offset:x}").split(
            ";", 1)
        data = unescaped(data)
        same(int(head[1:], 16), len(data), "bytes")
        return data
