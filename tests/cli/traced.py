"""A command, stopped at the begin and the end of each system call of its first thread. (Of others
nothing is seen; they go on.)"""

import ctypes
import os
import signal

TRACEME, PEEKUSER, CONT_TO_CALL, SET_OPTIONS, DETACH = 0, 3, 24, 0x4200, 17
GOOD_CALLS = 1  # PTRACE_O_TRACESYSGOOD
# In struct user of x86-64.
PLACES = {"number": 15, "result": 10, "rdi": 14, "rsi": 13, "rdx": 12, "r10": 7, "r8": 9}
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.restype = ctypes.c_long
libc.ptrace.argtypes = [ctypes.c_long] * 4


def ptrace(what, pid, address=0, data=0):
    ctypes.set_errno(0)
    result = libc.ptrace(what, pid, address, data)
    if result == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), f"ptrace {what}")
    return result


class Traced:
    def __init__(self, command):
        self.pid = os.fork()
        if self.pid == 0:
            ptrace(TRACEME, 0)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.execvp(command[0], command)
        os.waitpid(self.pid, 0)
        ptrace(SET_OPTIONS, self.pid, 0, GOOD_CALLS)
        self.status = None  # once it has ended

    def ends_of_calls(self):
        """Yields at the end of each call, until the command ends; see get()."""
        pass_on, at_end = 0, False
        while True:
            ptrace(CONT_TO_CALL, self.pid, 0, pass_on)
            _, status = os.waitpid(self.pid, 0)
            if not os.WIFSTOPPED(status):
                self.status = os.waitstatus_to_exitcode(status) % 256
                return
            stop, pass_on = os.WSTOPSIG(status), 0
            if stop != signal.SIGTRAP | 0x80:
                pass_on = 0 if stop == signal.SIGTRAP else stop
                continue
            if at_end:
                yield
            at_end = not at_end

    def get(self, name):
        return ptrace(PEEKUSER, self.pid, PLACES[name] * 8)

    def file_of(self, descriptor):
        """A path that leads to what the command has open there."""
        return f"/proc/{self.pid}/fd/{descriptor & 0xffffffff}"

    def let_go(self):
        """The exit status."""
        ptrace(DETACH, self.pid)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status) % 256
