"""Names that the built program says: its commands and options, and what stands in what it writes.

Commands and options come from `tracewell __describe`, from which manual pages and completions are
made, too: texts of help may be reworded. JSON is what commands print of the samples of tests/, so
that each key is told with the command and the place that it has there (`at stack.frames[].sp`).
"""

import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Values of these keys are words of a closed set, which readers compare with.
CLOSED = {"kind", "access", "severity", "stop", "endian", "by", "when", "machine", "arch"}
# What these hold is called as registers, variables and definitions of the trace are.
OPEN = {"registers", "before", "variables", "regs", "fields"}
NO_OPTION = "-~"  # a word that no command takes: with it, nothing is done


class Program:
    """tracewell in a folder of its own, with nothing of its user's."""

    def __init__(self, binary, source, folder):
        self.binary = str(binary)
        self.source = source
        self.folder = pathlib.Path(folder)
        # What root's files are is told by these alone; others' are below HOME and XDG_…
        own = {f"TRACEWELL_{name}": str(self.folder / name.lower()) for name in (
            "COMPONENTS", "COMPONENT_LOGS", "DEFAULTS", "EVENT_GROUPS", "LOG", "TEMPLATES")}
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("TRACEWELL")},
            **own, "LC_ALL": "C.UTF-8", "HOME": str(folder), "TMPDIR": str(folder),
            "XDG_RUNTIME_DIR": str(self.folder / "run"),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "XDG_CACHE_HOME": str(self.folder / "cache")}

    def run(self, *words, given=b"", called="tracewell"):
        """(exit status, standard output, standard error)"""
        binary = self.binary if called == "tracewell" else pathlib.Path(self.binary).parent / called
        done = subprocess.run([binary, *map(str, words)], input=given, capture_output=True,
                              env=self.environment, cwd=self.folder, timeout=60)
        return (done.returncode, done.stdout.decode("utf-8", "replace"),
                done.stderr.decode("utf-8", "replace"))

    def takes(self, command, option):
        """Does the command know the option, listed or not? Nothing is done: of two words that no
        command knows, it takes one for a value at most. What is not known is told, where no file
        and no number is missing."""
        said = self.run(command, option, NO_OPTION, NO_OPTION, "file", "1", "word")[2]
        return not re.search(r"(no option|no such option:|not expected:).* "
                             + re.escape(option) + r"(?![\w-])", said.split("\n")[0])

    def takes_value(self, command, option, value):
        """Does it take the option with this value? Nothing is done, as above."""
        said = self.run(command, option, value, NO_OPTION, NO_OPTION, "file", "1", "word")[2]
        return self.takes(command, option) and f"{option}: " not in said.split("\n")[0]

    def monitor(self, words, command):
        """What a server, started with these words, says to `monitor COMMAND`."""
        asked = [b"QStartNoAckMode", b"qRcmd," + command.encode().hex().encode(), b"k"]
        said = self.run(*words, given=b"+" + b"+".join(map(packet, asked)))[1]
        return "".join(bytes.fromhex(piece).decode()
                       for piece in re.findall(r"\$O((?:[0-9a-f]{2})+)#", said))

    def describe(self):
        return json.loads(self.run("__describe")[1])

    def make_samples(self):
        """{name: path} of traces, in the folder: what is written beside them stays there."""
        tests = self.source / "tests"
        samples = {}
        for path in sorted(tests.glob("formats/*/*/input.*")):
            case = path.parent
            name = f"{case.parent.name}-{case.name}{path.suffix}"
            data = path.read_bytes()
            if path.suffix == ".hex":
                data, name = bytes_of_hex(data.decode()), name[:-len(".hex")]
            (self.folder / name).write_bytes(data)
            samples[name] = self.folder / name
        for path in [tests / "cli/steps.jsonl", tests / "cli/hooks.jsonl",
                     *(tests / "formats/data").glob("*.trace64"),
                     self.source / "examples/hooks/shop.trcfmt",
                     *(tests / "house/frozen_samples").iterdir()]:
            shutil.copy(path, self.folder / path.name)
            samples[path.name] = self.folder / path.name
        shutil.copytree(tests / "trace_hooks/version_2/log", self.folder / "log")
        samples["log"] = self.folder / "log"
        self.make_runs(samples)
        run = self.folder / "run/tracewell"
        run.mkdir(parents=True, mode=0o700)
        run.parent.chmod(0o700)
        shutil.copy(tests / "formats/tracebuffer/killed/input.twb", run / "1234.twb")
        return samples

    def make_runs(self, samples):
        """Recorded runs of one program, as tests/cli/diff.sh has them: b makes two rounds more, and
        moved is that elsewhere."""
        text = (self.source / "examples/travel/squares.py").read_text()

        def made(script):
            return subprocess.run([sys.executable, "-"], input=script, capture_output=True,
                                  check=True, text=True).stdout

        longer = made(text.replace("0x7F0000, 4)", "0x7F0000, 6)"))
        moved = re.sub(r'0x40([0-9a-f]{4})"', r'0x7ff640\1"', longer)
        moved = re.sub(r'0x7f([0-9a-f]{4})"', r'0x1207f\1"', moved)
        squares = made(text)
        for name, lines in (("a", squares), ("b", longer), ("moved", moved),
                            ("short", "\n".join(squares.split("\n")[:9]) + "\n")):
            samples[f"{name}.jsonl"] = self.folder / f"{name}.jsonl"
            samples[f"{name}.jsonl"].write_text(lines)
        # Seven steps are missing, which the other format says in its own way.
        lines = (self.folder / "cause_b.jsonl").read_text().splitlines(keepends=True)
        lines[20:27] = ['{"kind":"lost","count":7}\n']
        samples["hole.jsonl"] = self.folder / "hole.jsonl"
        samples["hole.jsonl"].write_text("".join(lines))
        samples["hole.trace64"] = self.folder / "hole.trace64"
        self.run("convert", samples["hole.jsonl"], samples["hole.trace64"])


def bytes_of_hex(text):
    """A file of tests/formats as its reader there takes it: hex digits, # comments, "texts"."""
    out = b""
    for line in text.splitlines():
        if line.startswith('"'):
            out += line[1:line.rindex('"')].encode().decode("unicode_escape").encode("latin-1")
        else:
            out += bytes.fromhex(line.split("#")[0].replace(" ", ""))
    return out


def places(value, path=""):
    """The place of each key of a JSON value, and the words that it may have there."""
    if isinstance(value, list):
        for one in value:
            yield from places(one, path + "[]")
    if isinstance(value, dict):
        last = path.rpartition(".")[2]
        for key, one in value.items():
            name = "*" if last in OPEN else key
            here = f"{path}.{name}" if path else name
            yield here
            if key in CLOSED and isinstance(one, str):
                yield f"{here}={one}"
            yield from places(one, here)


def documents(text):
    """A whole document, or one a line."""
    try:
        return [json.loads(text)]
    except ValueError:
        pass
    found = []
    for line in text.splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            return []
    return found


# (name of the document, words of the command without the file), asked of each of STEPS.
DAMAGED = ["tfile-frame-cut", "tracebuffer-killed.twb", "hooklog-losses.hooks", "log"]
STEPS = ["a.jsonl", "steps.jsonl", "synthetic_threads_fixed.trace64"]
QUESTIONS = [
    ("info", "info --json"), ("check", "check --json"), ("check", "check --json --strict"),
    ("at", "at --json 3 --regs --mem 0x404000,4 --mem $rsp,8 --stack"),
    ("at", "at --json 8 --regs --stack --thread 100"), ("at", "at --json 26"),
    ("at", "at --json 2 --stack"), ("at", "at --json 4 --stack --thread 8"),
    ("find exec", "find --json exec 0x401000"), ("find exec", "find --json exec 0x1000"),
    ("find read", "find --json read 0x404000"), ("find write", "find --json write 0x404000"),
    ("find write", "find --json write 0x7000,16"),
    ("find access", "find --json access 0x404000"), ("find reg", "find --json reg rax"),
    ("find bytes", "find --json bytes 2a"), ("find bytes", "find --json bytes 0104"),
    ("find value", "find --json value 4"), ("find value", "find --json value 0x2a"),
    ("hits", "hits --json"), ("hits", "hits --json --blocks"), ("calls", "calls --json"),
    ("note", "note --json"), ("print", "print --json --limit 40"),
]


def asked(program, samples):
    """(name of the document, text) of what commands print as JSON."""
    for name, path in samples.items():
        yield "info", program.run("info", "--json", path)[1]
    for name in DAMAGED:
        yield "check", program.run("check", "--json", samples[name])[1]
    for name in STEPS:
        program.run("note", samples[name], 3, "a note")
        for document, words in QUESTIONS:
            command, *rest = words.split()
            at = {"at": 1, "find": 1}.get(command, len(rest))
            yield document, program.run(command, *rest[:at], samples[name], *rest[at:])[1]
    for words in ("find --json others.jsonl bytes bbbb", "find --json others.jsonl bytes cc",
                  "find --json others.jsonl access 0x1000,2", "find --json steps.jsonl reg rbx",
                  "diff --json a.jsonl b.jsonl", "diff --json --first a.jsonl moved.jsonl",
                  "diff --json a.jsonl moved.jsonl", "diff --json a.jsonl short.jsonl",
                  "diff --json cause_a.jsonl cause_b.jsonl", "diff --json hole.jsonl hole.trace64",
                  "diff --json cause_b.jsonl hole.jsonl", "diff --json hole.trace64 cause_b.jsonl",
                  "diff --json --window 1 cause_a.jsonl b.jsonl"):
        command, _, *rest = words.split()
        document = command if command == "diff" else f"{command} {rest[1]}"
        yield document, program.run(*words.split())[1]
    trace64 = [path for name, path in samples.items() if name.startswith("synthetic")]
    yield "diff", program.run("diff", "--json", trace64[0], trace64[1])[1]
    yield "buffers", program.run("buffers", "--json")[1]
    yield "__describe", program.run("__describe")[1]
    for path in program.folder.iterdir():
        if path.is_file() and path.read_bytes()[:11] == b'{"notes_of"':
            yield "(notes)", path.read_text()
    for name in ("a.jsonl", "synthetic_single.trace64"):
        yield "convert .tvt", program.run("convert", samples[name], "--format", "tvt", "-")[1]


def json_names(program, samples):
    for document, text in asked(program, samples):
        for one in documents(text):
            for place in places(one):
                yield "json", f"{document} {place}"
            if document == "info":
                for told in one["problems"]:
                    yield "problem-in", f"{one['format']} {told['code']} {told['severity']}"
    for name in ("hooks.jsonl", "log"):
        for more in ([], ["-t", samples["shop.trcfmt"]]):
            text = program.run("report", *more, "--format", "jsonl", samples[name])[1]
            for one in documents(text):
                for place in places(one):
                    yield "json", f"report {place}"


def jsonl_names(program, samples):
    """What `convert` writes of each sample, and the keys of extras in it."""
    for path in samples.values():
        status, text, _ = program.run("print", "--format", "jsonl", path)
        for one in documents(text):
            if "catalog" in one:
                body, document = one["catalog"], "catalog"
                for key in _keys_of_extras(body.get("extras", [])):
                    yield "extra", re.sub(r"\.\d+", ".*", key)
                body = {**body, "extras": []}
            else:
                body, document = one, str(one.get("kind"))
            for place in places(body):
                yield "jsonl", f"{document} {place}"


def _keys_of_extras(extras):
    """But for those that the samples bring along, and tvt's, which are its file's members."""
    names = [one["key"] if isinstance(one, dict) else one[0] for one in extras]
    return [name for name in names if name.split(".")[0] not in ("other", "tvt")]


def csv_names(program, samples):
    """Columns with their numbers: readers count them, and new ones come last."""
    for document, words in (
            ("print", ["print", "--format", "csv", samples["a.jsonl"]]),
            ("report", ["report", "--format", "csv", samples["hooks.jsonl"]])):
        head = next(csv.reader(program.run(*words)[1].splitlines()))
        for number, name in enumerate(head, 1):
            yield "csv", f"{document} {number:02} {name}"


def command_names(program):
    described = program.describe()
    for command in described["commands"]:
        yield "command", command["name"]
        for name in command["programs"]:
            yield "program", f"{name} = {command['name']}"
        for option in command["options"]:
            for name in option["names"]:
                yield "option", f"{command['name']} {name}"
            words = re.search(r"\{(.*)\}", option["value"] or "")
            for word in words.group(1).split(",") if words else []:
                yield "option-value", f"{command['name']} {option['names'][-1]} {word}"
        for option in command["hidden"]:
            for name in option["names"]:
                yield "hidden-option", f"{command['name']} {name}"
    for word in ("--help", "-h", "--version", "-V", "help", "version", "__describe"):
        if program.run(word)[0] == 0:
            yield "command", word
    for name in described:
        yield "json", f"__describe {name}"


def packet(text):
    return b"$" + text + b"#%02x" % (sum(text) & 255)


def servers(program):
    """Commands that answer `monitor`: of a server without a program, and of a recording."""
    steps = shutil.copy(program.source / "tests/cli/steps.jsonl", program.folder / "shown.jsonl")
    return {"serve": ["serve", "--multi", "-"], "replay": ["replay", steps, "-"]}


def monitor_names(program, samples):
    """What `monitor help` lists."""
    for document, words in servers(program).items():
        text = program.monitor(words, "help")
        for line in re.findall(r"^  (\S.*)$", text, re.MULTILINE):
            words = line.split()
            yield "monitor", f"{document} {' '.join(words[:2 if words[0] == 'set' else 1])}"


def exit_names(program, samples):
    """Exit statuses, by what happens."""
    (program.folder / "bad").write_text("no trace\n")
    sound, damaged = samples["a.jsonl"], samples["tfile-frame-cut"]
    for name, words in (
            ("done", ["info", sound]),
            ("no command", []),
            ("unknown command", ["no-such-command"]),
            ("unknown option", ["info", "--no-such-option", sound]),
            ("not a trace", ["info", program.folder / "bad"]),
            ("no such file", ["info", program.folder / "no-such-file"]),
            ("nothing found", ["find", sound, "exec", "0x1"]),
            ("nothing to print", ["print", sound, "--from", "1000000"]),
            ("no such step", ["at", sound, "1000000"]),
            ("same", ["diff", sound, sound]),
            ("differs", ["diff", sound, samples["b.jsonl"]]),
            ("sound", ["check", sound]),
            ("damaged", ["check", damaged]),
            ("damaged, printed", ["print", damaged]),
            ("damaged, strict", ["print", "--strict", damaged]),
            ("no such folder", ["replay", sound, "unix:/no-such-folder/socket"])):
        status = program.run(*words)[0]
        yield "exit-status", f"{name}: {words[0] if words else 'tracewell'} {status}"
    for name, words in (("no command", []), ("unknown option", ["--no-such-option"]),
                        ("no such program", ["-", "/no-such-program"])):
        status = program.run(*words, called="tracewell-gdbserver")[0]
        yield "exit-status", f"{name}: tracewell-gdbserver {status}"


def takes(binary, source, kind, name):
    """Is what is listed no more still known, as an old spelling is?"""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(binary, source, folder)
        if kind == "command":
            return program.run(name, "--help")[0] == 0
        if kind in ("option", "hidden-option"):
            return program.takes(*name.split(" "))
        if kind == "option-value":
            return program.takes_value(*name.split(" "))
        if kind == "monitor":
            document, command = name.split(" ", 1)
            said = program.monitor(servers(program)[document], command)
            return not re.match("There is no setting|There are no settings|Unknown monitor", said)
    return False


def names(binary, source):
    """All (kind, name) that the program tells."""
    with tempfile.TemporaryDirectory() as folder:
        program = Program(binary, source, folder)
        samples = program.make_samples()
        found = set(command_names(program))
        for find in (monitor_names, csv_names, exit_names, json_names, jsonl_names):
            found.update(find(program, samples))
    return found
