"""Records what a program does, instruction by instruction, as JSON lines: a single-stepper, so that
tests have the run of a real program with the addresses of a real file.

Not a test itself (not executable).
"""

import ctypes
import json
import os
import pathlib
import re
import signal
import struct
import subprocess

TRACEME, CONT, SINGLESTEP, GETREGS, SETREGS, KILL = 0, 7, 9, 12, 13, 8
# struct user_regs_struct, <sys/user.h>
NAMES = ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss "
         "fs_base gs_base ds es fs gs").split()
KEPT = [name for name in NAMES if name not in ("orig_rax", "fs_base", "gs_base")]
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long


def ptrace(request, pid, data=None):
    if LIBC.ptrace(request, pid, None, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace {request}")


def instructions(program):
    """Of the file's code: link-time address to bytes and text."""
    text = subprocess.run(["objdump", "-d", "-w", program], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+) *\t(.*)$", text, re.M)
    return {int(address, 16): (bytes.fromhex(code), words) for address, code, words in found}


def touched(text, registers, following):
    """Addresses of the memory that an instruction names, and of the stack slot that it uses."""
    mnemonic = text.split()[0]
    if mnemonic in ("lea", "nop", "nopw", "nopl"):
        return []
    out = []
    operand = re.search(r"(-?0x[0-9a-f]+)?\((%\w+)?(?:,(%\w+),(\d))?\)", text)
    if operand:
        displacement, base, index, scale = operand.groups()
        address = int(displacement or "0", 16)
        if base:
            address += following if base == "%rip" else registers[base[1:]]
        if index:
            address += registers[index[1:]] * int(scale)
        out.append(address % 2**64)
    if mnemonic.startswith(("push", "call")):
        out.append(registers["rsp"] - 8)
    elif mnemonic.startswith(("pop", "ret")):
        out.append(registers["rsp"])
    elif mnemonic.startswith("leave"):
        out.append(registers["rbp"])
    return out


def symbols(program):
    text = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    return {name: int(value, 16) for value, name in re.findall(r"^(\w+) \w (\S+)$", text, re.M)}


class Stepper:
    def __init__(self, program):
        self.pid = os.fork()
        if self.pid == 0:
            ptrace(TRACEME, 0)
            os.execv(program, [str(program)])
        os.waitpid(self.pid, 0)
        self.memory = open(f"/proc/{self.pid}/mem", "r+b", buffering=0)

    def registers(self):
        block = ctypes.create_string_buffer(8 * len(NAMES))
        ptrace(GETREGS, self.pid, block)
        return dict(zip(NAMES, struct.unpack(f"{len(NAMES)}Q", block.raw)))

    def set_registers(self, registers):
        block = struct.pack(f"{len(NAMES)}Q", *(registers[name] for name in NAMES))
        ptrace(SETREGS, self.pid, ctypes.create_string_buffer(block))

    def read(self, address, size):
        self.memory.seek(address)
        return self.memory.read(size)

    def run_to(self, address):
        was = self.read(address, 1)
        self.memory.seek(address)
        self.memory.write(b"\xcc")
        ptrace(CONT, self.pid)
        os.waitpid(self.pid, 0)
        self.memory.seek(address)
        self.memory.write(was)
        registers = self.registers()
        registers["rip"] = address
        self.set_registers(registers)

    def step(self):
        ptrace(SINGLESTEP, self.pid)
        _, status = os.waitpid(self.pid, 0)
        assert os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTRAP, status

    def close(self):
        self.memory.close()
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def base_of(pid, program):
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        if line.endswith(str(program)):
            return int(line.split("-")[0], 16)
    raise LookupError(f"{program} is not mapped")


def record(program, trace):
    """From main's first instruction to its last, without what it calls elsewhere. Of memory, as
    x64dbg does it, the eight bytes from each operand's address on. Returns the load address."""
    stepper = Stepper(program)
    try:
        code = instructions(program)
        base = base_of(stepper.pid, program)
        bias = base - (min(code) & ~0xFFFFF)  # these programs are small
        stepper.run_to(symbols(program)["main"] + bias)
        first = registers = stepper.registers()
        lines, told = [{"catalog": {"endian": "little", "machine": "x86-64"}}], {}
        while registers["rsp"] <= first["rsp"]:
            pc = registers["rip"]
            opcode, text = code[pc - bias]
            places = touched(text, registers, pc + len(opcode))
            old = [stepper.read(address, 8) for address in places]
            stepper.step()
            new = [stepper.read(address, 8) for address in places]
            after = stepper.registers()
            lines.append({
                "kind": "step", "tid": stepper.pid, "pc": hex(pc), "opcode": opcode.hex(),
                "before": {name: hex(registers[name]) for name in KEPT
                           if told.get(name) != registers[name]},
                "registers": {name: hex(after[name]) for name in KEPT
                              if after[name] != registers[name]},
                "memory": [access(*one) for one in zip(places, old, new)]})
            told = registers = after
        pathlib.Path(trace).write_text("".join(json.dumps(line) + "\n" for line in lines))
        return base
    finally:
        stepper.close()


def access(address, old, new):
    out = {"addr": hex(address), "size": 8, "access": "read", "old": old.hex()}
    return out if old == new else {**out, "access": "write", "new": new.hex()}
