#!/usr/bin/env python3
"""How much of a file a reply has: GDB asks for a packet full at each place that it looks at, and is
slow in taking it. Little where it jumps, more and more where it reads on; in all, the file."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from file_pieces_common import PACKET, File  # noqa: E402
from serve_client import Client  # noqa: E402
from serve_common import INFERIORS, check, folder, on_port, same  # noqa: E402

FIRST = 0x4000


def main():
    with folder() as work:
        path = work / "file"
        content = bytes(number * 7 % 251 for number in range(1_000_003))
        path.write_bytes(content)
        with on_port(INFERIORS / "hit_storm", 10) as server:
            server.wait_for("after `set sysroot /`")  # who needs none of this is told
            client = Client(server.remote)
            file = File(client, path)
            got, sizes = b"", []
            while piece := file.read(len(got)):
                got += piece
                sizes.append(len(piece))
            same(got, content, "content")
            same(sizes[:3], [FIRST, 2 * FIRST, 4 * FIRST], "pieces of who reads on")
            check(max(sizes) > 4 * FIRST and len(sizes) < 20, f"pieces {sizes}")
            for offset in (900_000, 10, 500_000, 400_000, 0):
                same(file.read(offset), content[offset:offset + FIRST], "where it jumps")
            same(file.read(FIRST), content[FIRST:3 * FIRST], "behind the last jump")
            same(file.read(7, 5), content[7:12], "no more than was asked for")
            other = File(client, path)
            same(len(other.read(3 * FIRST)), FIRST, "another descriptor's first piece")


main()
