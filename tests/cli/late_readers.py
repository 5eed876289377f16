"""late_readers.py [--errors|--close] COMMAND...: runs the command with a standard output, or
(--errors) a standard error, that does not block and has no room, and reads it only once the command
waits for room or has ended; --close: goes away then. Prints what came, and exits as the command
did."""

import fcntl
import os
import subprocess
import sys
import time

WAITS = ("1", "7", "271")  # x86-64: write, poll, ppoll; a name that was opened anew may block


def waits(pid):
    """Is its first thread in such a call, and not running?"""
    try:
        with open(f"/proc/{pid}/syscall") as file:
            return file.read().split()[0] in WAITS
    except OSError:
        return False


def main():
    errors, close = sys.argv[1] == "--errors", sys.argv[1] == "--close"
    command = sys.argv[2:] if errors or close else sys.argv[1:]
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETFL, os.O_NONBLOCK | os.O_WRONLY)
    filled = 0
    if errors:
        try:
            while True:
                filled += os.write(writing, b"." * 4096)
        except BlockingIOError:
            pass
    elsewhere = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                               stdout=elsewhere if errors else writing,
                               stderr=writing if errors else None)
    while process.poll() is None and not waits(process.pid):
        time.sleep(0.005)
    os.close(writing)
    if close:
        os.close(reading)
        return process.wait() % 256
    with open(reading, "rb") as file:
        sys.stdout.buffer.write(file.read()[filled:])
    return process.wait() % 256


sys.exit(main())
