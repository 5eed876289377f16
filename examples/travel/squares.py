#!/usr/bin/env python3
"""Prints a trace of executed instructions, as JSON lines: two threads that fill tables with squares
and count what they do. Nothing ran; this is a model of the program below.

    mov  ecx, COUNT
  1: mov  rax, rcx
    imul rax, rcx
    mov  [rbx + rcx * 8], rax
    inc  dword ptr [counter]
    dec  ecx
    jnz  1b
    nop
"""

import json

MOV_ECX, MOV, IMUL, STORE, INC, DEC, JNZ, NOP = range(8)
CODE = [(0x401000, "b900000000"), (0x401005, "4889c8"), (0x401008, "480fafc1"),
        (0x40100C, "488904cb"), (0x401010, "ff05ea2f0000"), (0x401016, "ffc9"),
        (0x401018, "75eb"), (0x40101A, "90")]
COUNTER = 0x404000


class Thread:
    """What the program does in one thread, an instruction at a time."""

    def __init__(self, tid, table, count):
        self.tid, self.count, self.at = tid, count, MOV_ECX
        self.registers = {"rax": 0, "rbx": table, "rcx": 0, "rsp": table - 0x1000,
                          "rip": CODE[MOV_ECX][0]}
        self.told = {}

    def step(self, memory):
        """The next step, as the trace tells it. None: the thread has ended."""
        if self.at > NOP:
            return None
        now, (pc, opcode) = self.registers, CODE[self.at]
        before = {name: value for name, value in now.items() if self.told.get(name) != value}
        was, accesses, following = dict(now), [], self.at + 1
        if self.at == MOV_ECX:
            now["rcx"] = self.count
            opcode = "b9" + self.count.to_bytes(4, "little").hex()
        elif self.at == MOV:
            now["rax"] = now["rcx"]
        elif self.at == IMUL:
            now["rax"] *= now["rcx"]
        elif self.at == STORE:
            accesses.append(access(memory, now["rbx"] + now["rcx"] * 8, 8, "write", now["rax"]))
        elif self.at == INC:
            accesses.append(access(memory, COUNTER, 4, "read-write", memory.get(COUNTER, 0) + 1))
        elif self.at == DEC:
            now["rcx"] -= 1
        elif self.at == JNZ and now["rcx"] != 0:
            following = MOV
        self.at = following
        now["rip"] = CODE[following][0] if following <= NOP else pc + 1
        self.told = dict(now)
        return {"kind": "step", "tid": self.tid, "pc": hex(pc), "opcode": opcode,
                "before": text(before),
                "registers": text({name: value for name, value in now.items()
                                   if was[name] != value}),
                "memory": accesses}


def text(registers):
    return {name: hex(value) for name, value in registers.items()}


def access(memory, address, size, how, value):
    old = memory.get(address, 0)
    memory[address] = value
    return {"addr": hex(address), "size": size, "access": how,
            "old": old.to_bytes(size, "little").hex(), "new": value.to_bytes(size, "little").hex()}


def main():
    print(json.dumps({"catalog": {"endian": "little", "machine": "x86-64"}}))
    memory, threads = {}, [Thread(100, 0x7F0000, 4), Thread(200, 0x7F8000, 3)]
    turn = 0
    while threads:
        for _ in range(5 + turn % 3):
            step = threads[turn % len(threads)].step(memory)
            if step is None:
                threads.pop(turn % len(threads))
                break
            print(json.dumps(step))
        turn += 1


main()
