#!/usr/bin/env python3
"""Tenet's logs of a real run: an access stands in the line of the next instruction, with what the
instruction left there. A small program is stepped here, and a log is written as Tenet's tracers
write it: when an instruction is reached, with all that has happened since the line before. The
reader below shows what Tenet shows at a line. Both know nothing of Tracewell, and have what the
process really held beside them."""

import ctypes
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

TRACEWELL = pathlib.Path(os.environ["TRACEWELL_BIN"]) / "tracewell"
PTRACE_TRACEME, PTRACE_CONT, PTRACE_STEP, PTRACE_GETREGS = 0, 7, 9, 12
# As in struct user_regs_struct.
FIELDS = ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp "
          "ss fs_base gs_base ds es fs gs").split()
SHOWN = "rax rbx rcx rdx rbp rsp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()
BUFFER = 192  # bytes

# An instruction; what it touches: r, w or b(oth), where, how many bytes.
PROGRAM = [
    ("lea buffer(%rip), %rbx", []),
    ("movq $0x1122334455667788, %rax", []),
    ("mov %rax, 8(%rbx)", [("w", lambda r: r["rbx"] + 8, 8)]),
    ("mov 8(%rbx), %rcx", [("r", lambda r: r["rbx"] + 8, 8)]),
    ("push %rcx", [("w", lambda r: r["rsp"] - 8, 8)]),
    ("addl $7, 12(%rbx)", [("b", lambda r: r["rbx"] + 12, 4)]),
    ("incb 33(%rbx)", [("b", lambda r: r["rbx"] + 33, 1)]),
    ("mov 32(%rbx), %dx", [("r", lambda r: r["rbx"] + 32, 2)]),
    ("pop 40(%rbx)", [("r", lambda r: r["rsp"], 8), ("w", lambda r: r["rbx"] + 40, 8)]),
    ("xchg %rax, 41(%rbx)", [("b", lambda r: r["rbx"] + 41, 8)]),
    ("lea 8(%rbx), %rsi", []),
    ("lea 11(%rbx), %rdi", []),
    ("mov $6, %ecx", []),
    # Reads what it has just written: three bytes behind itself.
    ("rep movsb", [("r", lambda r: r["rsi"], 1), ("w", lambda r: r["rdi"], 1)]),
    ("movsq", [("r", lambda r: r["rsi"], 8), ("w", lambda r: r["rdi"], 8)]),
    ("movdqu %xmm0, 61(%rbx)", [("w", lambda r: r["rbx"] + 61, 16)]),
    ("call 1f", [("w", lambda r: r["rsp"] - 8, 8)]),
    ("jmp 2f", []),
    ("1: ret", [("r", lambda r: r["rsp"], 8)]),
    ("2: cmpb $0, 100(%rbx)", [("r", lambda r: r["rbx"] + 100, 1)]),
    ("xor %eax, %eax", []),
    ("xor %edi, %edi", []),
    ("lea 96(%rbx), %rsi", []),
    ("mov $16, %edx", []),
    ("syscall", []),  # read(): nobody logs that
    ("mov 100(%rbx), %rax", [("r", lambda r: r["rbx"] + 100, 8)]),
    ("movb $5, 100(%rbx)", [("w", lambda r: r["rbx"] + 100, 1)]),
    ("mov 100(%rbx), %al", [("r", lambda r: r["rbx"] + 100, 1)]),
    ("mov $60, %eax", []),
    ("syscall", []),
]
KINDS = {"r": "read", "w": "write", "b": "read-write"}


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + str(what))


def build(work):
    lines = [".globl _start", ".text", "_start:"]
    lines += [text for text, _ in PROGRAM]
    lines += [".data", ".balign 64", "buffer:"] + [f".byte {i * 5 % 256}" for i in range(BUFFER)]
    (work / "prog.s").write_text("\n".join(lines) + "\n")
    subprocess.run(["cc", "-nostdlib", "-static", "-no-pie", "-o", work / "prog", work / "prog.s"],
                   check=True)
    text = subprocess.run(["objdump", "-d", work / "prog"], capture_output=True, text=True,
                          check=True).stdout
    code = [(int(pc, 16), bytes.fromhex(hexes.replace(" ", "")))
            for pc, hexes in re.findall(r"^ +([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", text, re.M)]
    joined = []  # objdump breaks the line of a long instruction
    for pc, opcode in code:
        if joined and len(joined[-1][1]) == 7 and pc == joined[-1][0] + 7 and len(opcode) < 7 \
                and not re.search(rf"^ +{pc:x}:\t[0-9a-f ]+\t", text, re.M):
            joined[-1] = (joined[-1][0], joined[-1][1] + opcode)
        else:
            joined.append((pc, opcode))
    check(len(joined) == len(PROGRAM), f"{len(joined)} instructions\n{text}")
    names = subprocess.run(["nm", work / "prog"], capture_output=True, text=True, check=True).stdout
    buffer = int(re.search(r"([0-9a-f]+) d buffer", names).group(1), 16)
    return {pc: (opcode, touched) for (pc, opcode), (_, touched) in zip(joined, PROGRAM)}, buffer


class Moment:
    """Registers and memory before an instruction."""

    def __init__(self, registers, memory):
        self.registers, self.memory = registers, memory

    def bytes(self, address, size):
        return bytes(self.memory[address + i] for i in range(size))


def step_through(program, buffer):
    """What the process held before each of its instructions."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    stdin = os.memfd_create("input")
    os.write(stdin, b"from the outside")
    os.lseek(stdin, 0, os.SEEK_SET)
    pid = os.fork()
    if pid == 0:
        os.dup2(stdin, 0)
        libc.ptrace(PTRACE_TRACEME, 0, None, None)
        os.execv(program, [program])
    os.waitpid(pid, 0)
    moments, stack = [], None
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        while True:
            raw = (ctypes.c_uint64 * len(FIELDS))()
            check(libc.ptrace(PTRACE_GETREGS, pid, None, raw) == 0, "PTRACE_GETREGS")
            registers = dict(zip(FIELDS, raw))
            stack = stack or registers["rsp"] - 64
            held = {}
            for start, size in ((buffer, BUFFER), (stack, 128)):
                memory.seek(start)
                held.update(zip(range(start, start + size), memory.read(size)))
            moments.append(Moment(registers, held))
            libc.ptrace(PTRACE_STEP, pid, None, None)
            _, status = os.waitpid(pid, 0)
            if os.WIFEXITED(status):
                return moments


def touched_by(code, moment):
    return [(kind, where(moment.registers), size)
            for kind, where, size in code[moment.registers["rip"]][1]]


def tenet_log(code, moments):
    """As a tracer that is called before each instruction: what is different since the last call,
    then what was touched since, as it is now."""
    lines, shown, touched = [], {}, []
    for now in moments:
        items = [f"{name}={now.registers[name]:#x}" for name in SHOWN
                 if shown.get(name) != now.registers[name]]
        shown = now.registers
        items.append(f"rip={now.registers['rip']:#x}")
        for kind, address, size in touched:
            text = f"{address:#x}:{now.bytes(address, size).hex()}"
            items += [f"mr={text}"] if kind == "r" else [f"mw={text}"]
            if kind == "b":
                items.insert(-1, f"mr={text}")
        touched = touched_by(code, now)
        lines.append(",".join(items))
    return lines


class TenetReader:
    """What Tenet shows at a line: all that was told up to there, the line itself included."""

    def __init__(self, lines):
        self.moments, self.accesses = [], []
        registers, memory = {}, {}
        for line in lines:
            touched = []
            for item in line.split(","):
                name, value = item.split("=")
                if name not in ("mr", "mw", "mrw"):
                    registers[name] = int(value, 16)
                    continue
                address, content = value.split(":")
                for i, byte in enumerate(bytes.fromhex(content)):
                    memory[int(address, 16) + i] = byte
                    touched.append((int(address, 16) + i, name))
            self.moments.append(Moment(dict(registers), dict(memory)))
            self.accesses.append(touched)


def run(*arguments):
    done = subprocess.run([TRACEWELL, *map(str, arguments)], capture_output=True, text=True,
                          check=False)
    check(done.returncode == 0, f"{arguments}: {done.stderr}")
    return done.stdout


def events(path):
    out = [json.loads(line) for line in run("convert", path, "-", "--format", "jsonl").splitlines()]
    return [one for one in out if one.get("kind") == "step"]


def same_bytes(got, wanted, what):
    for address, byte in wanted.items():
        check(got.get(address) == byte, f"{what}: {address:#x} is {got.get(address)}, not {byte}")


def accesses_of(event):
    return [(one["access"], int(one["addr"], 16), one["size"]) for one in event["memory"]
            if one["access"] != "nearby"]


def reading(work, code, buffer, moments):
    lines = tenet_log(code, moments)
    log = work / "run.tenet"
    log.write_text("\n".join(lines) + "\n")
    steps = events(log)
    check(len(steps) == len(moments), "steps")
    for number, (event, now) in enumerate(zip(steps, moments)):
        wanted = [(KINDS[kind], address, size) for kind, address, size in touched_by(code, now)]
        check(event["pc"] == f"{now.registers['rip']:#x}", f"pc of {number}")
        check(accesses_of(event) == wanted, f"{number}: {event['memory']}, not {wanted}")
        for one in event["memory"]:
            at, size = int(one["addr"], 16), one["size"]
            if "old" in one:
                check(bytes.fromhex(one["old"]) == now.bytes(at, size), f"old of {number}: {one}")
            if "new" in one:
                left = moments[number + 1].bytes(at, size)
                check(bytes.fromhex(one["new"]) == left, f"new of {number}: {one}")
    check(steps[-1].get("memory_incomplete"), "nobody saw the last instruction's accesses")
    # At each line: what Tenet shows, and nothing that is not so.
    shown = TenetReader(lines)
    for number, now in enumerate(moments):
        told = json.loads(run("at", log, number, "--json", "--regs", "--mem",
                              f"{buffer:#x},{BUFFER}"))
        for name in SHOWN:
            check(int(told["registers"][name], 16) == now.registers[name], f"{name} at {number}")
        digits = told["memory"][0]["bytes"]
        got = {buffer + i: int(digits[2 * i:2 * i + 2], 16) for i in range(BUFFER)
               if digits[2 * i:2 * i + 2] != "??"}
        in_buffer = {at: byte for at, byte in shown.moments[number].memory.items()
                     if buffer <= at < buffer + BUFFER and byte == now.memory[at]}
        same_bytes(got, in_buffer, f"at {number}")
    # A log that begins in the middle: its first line tells what memory held before its step.
    for first in range(1, len(lines)):
        part = work / "part.tenet"
        part.write_text("\n".join(lines[first:]) + "\n")
        event = events(part)[0]
        near = {int(one["addr"], 16) + i: byte for one in event["memory"]
                if one["access"] == "nearby" for i, byte in enumerate(bytes.fromhex(one["old"]))}
        same_bytes(moments[first].memory, near, f"begin at {first}")
        told = {at for at, _ in shown.accesses[first]}
        check(told <= set(near), f"begin at {first}: {sorted(near)}, not {sorted(told)}")
    return lines


def write_jsonl(work, code, moments):
    """The same run as Tracewell's own recorder would tell it."""
    path = work / "run.jsonl"
    out = [{"catalog": {"machine": "x86-64"}}]
    for number, now in enumerate(moments):
        after = moments[number + 1] if number + 1 < len(moments) else None
        memory = []
        for kind, address, size in touched_by(code, now):
            one = {"addr": f"{address:#x}", "size": size, "access": KINDS[kind],
                   "old": now.bytes(address, size).hex()}
            if kind != "r":
                one["new"] = after.bytes(address, size).hex()
            memory.append(one)
        before = {name: f"{now.registers[name]:#x}" for name in SHOWN + ["rip"]}
        changed = {name: f"{after.registers[name]:#x}" for name in SHOWN + ["rip"]
                   if after and after.registers[name] != now.registers[name]}
        step = {"kind": "step", "pc": f"{now.registers['rip']:#x}",
                "opcode": code[now.registers["rip"]][0].hex(), "memory": memory,
                "registers": changed, "after_known": after is not None}
        if number == 0:
            step["before"] = before
        out.append(step)
    path.write_text("\n".join(map(json.dumps, out)) + "\n")
    return path


def writing(work, code, moments, lines):
    jsonl = write_jsonl(work, code, moments)
    wanted = TenetReader(lines)
    run("convert", jsonl, work / "told.trace64")
    for source in (jsonl, work / "told.trace64"):
        run("convert", source, work / "out.tenet")
        shown = TenetReader((work / "out.tenet").read_text().splitlines())
        check(len(shown.moments) == len(moments), "lines")
        for number, now in enumerate(moments):
            got = shown.moments[number]
            check(got.registers == wanted.moments[number].registers, f"registers at {number}")
            check(got.memory == wanted.moments[number].memory, f"memory at {number}")
            ways = [{at: name for at, name in one.accesses[number]} for one in (shown, wanted)]
            check(set(ways[0]) == set(ways[1]), f"accesses of line {number}: {ways}")
    # And back: each access is its own step's again.
    run("convert", work / "out.tenet", work / "back.trace64", "--image", work / "prog")
    before, after = events(work / "told.trace64"), events(work / "back.trace64")
    check(len(before) == len(after), "steps of the way back")
    for number, (one, other) in enumerate(zip(before[:-1], after[:-1])):
        touched = [set(at + i for _, at, size in accesses_of(event) for i in range(size))
                   for event in (one, other)]
        check(touched[0] == touched[1], f"step {number}: {one['memory']}, {other['memory']}")
        check(one["pc"] == other["pc"] and one["opcode"] == other["opcode"], f"step {number}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        code, buffer = build(work)
        moments = step_through(str(work / "prog"), buffer)
        check(len(moments) > len(PROGRAM), "steps")
        lines = reading(work, code, buffer, moments)
        writing(work, code, moments, lines)
    print("ok")


if __name__ == "__main__":
    main()
