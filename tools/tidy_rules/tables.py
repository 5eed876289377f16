"""The .def tables against the files that they promise, both ways."""

import os
import re

from .tree import Finding

PACKETS = "src/agent/packets.def"
COMMANDS = "src/cli/commands.def"
FORMATS = "src/formats/formats.def"
OPCODES = "src/ax/opcodes.def"
CODES = "src/report/codes.def"
BUILTINS = "src/report/builtins.def"


_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^,\s()"]+')


def rows(tree, path, macro):
    """(line, arguments) of each MACRO(…) in a table, quotes taken off. A row may span lines."""
    if not tree.has(path):
        return
    code = re.sub(r"^\s*(?://|#).*$", "", tree.text(path), flags=re.MULTILINE)
    for match in re.finditer(rf'^[ \t]*(?:{macro})\(((?:"(?:[^"\\]|\\.)*"|[^()"])*)\)', code,
                             re.MULTILINE):
        line = code.count("\n", 0, match.start()) + 1
        yield line, [word.strip('"') for word in _WORD.findall(match.group(1))]


def _stems(tree, folder, suffix):
    return {os.path.basename(p)[: -len(suffix)] for p in tree.under(folder, suffix)}


def packets(tree):
    """PACKET("QTDP", QTDP, …) and packets/QTDP.cc, which holds on_QTDP."""
    table = {words[1]: number for number, words in rows(tree, PACKETS, "PACKET")}
    files = _stems(tree, "src/agent/packets/", ".cc")
    for name, number in table.items():
        path = f"src/agent/packets/{name}.cc"
        if name not in files:
            yield Finding(PACKETS, number, f"there is no packets/{name}.cc")
        elif not re.search(rf"\bon_{name}\b", tree.text(path)):
            yield Finding(path, 1, f"does not define on_{name}")
    for name in sorted(files - set(table)):
        yield Finding(f"src/agent/packets/{name}.cc", 1, "not in packets.def")


def packet_tests(tree):
    """Each packet is sent in some test of the agent."""
    tests = "\n".join(tree.text(path) for path in tree.under("tests/agent/"))
    for number, words in rows(tree, PACKETS, "PACKET"):
        if not re.search(rf'(?:[$"]|->\s*){re.escape(words[0])}', tests):
            yield Finding(PACKETS, number, f"no test in tests/agent sends {words[0]}")


def commands(tree):
    """COMMAND(info, …) and src/cli/info.cc; a file that defines a Run …(OptionTable&) is one."""
    listed = set()
    for number, words in rows(tree, COMMANDS, "COMMAND|HIDDEN_COMMAND"):
        name = words[0].strip("_")
        listed.add(words[1])
        if not tree.has(f"src/cli/{name}.cc"):
            yield Finding(COMMANDS, number, f"there is no src/cli/{name}.cc")
    for path in tree.under("src/cli/", ".cc"):
        for match in re.finditer(r"^Run (\w+)\(OptionTable", tree.text(path), re.MULTILINE):
            if match.group(1) not in listed:
                yield Finding(path, 1, f"{match.group(1)} is not in commands.def")


def format_names(tree):
    """{name: line} of the formats."""
    return {words[0]: number for number, words in rows(tree, FORMATS, "FORMAT")}


def formats(tree):
    """FORMAT(tfile), tfile_format() in src/formats/tfile.cc, its page and its folder of cases."""
    names = format_names(tree)
    for name, number in names.items():
        path = f"src/formats/{name}.cc"
        if not tree.has(path):
            yield Finding(FORMATS, number, f"there is no {path}")
        if not tree.has(f"docs/formats/{name}.md"):
            yield Finding(FORMATS, number, f"there is no docs/formats/{name}.md")
        if not tree.under(f"tests/formats/{name}/"):
            yield Finding(FORMATS, number, f"there is no tests/formats/{name}/")
    for path in tree.under("src/formats/", ".cc"):
        for match in re.finditer(r"^const Format& (\w+)_format\(\) *\{", tree.text(path),
                                 re.MULTILINE):
            if match.group(1) not in names:
                yield Finding(path, 1, f"{match.group(1)} is not in formats.def")
            elif path != f"src/formats/{match.group(1)}.cc":
                yield Finding(path, 1, f"defines {match.group(1)}, which belongs into a file of "
                              "its own")


def model_names_no_format(tree):
    names = set(format_names(tree)) | {"tfile", "gdbctf", "trace64", "hooklog", "jsonl", "drcov"}
    pattern = re.compile(rf"\b({'|'.join(sorted(names))})\b", re.IGNORECASE)
    for path in tree.under("src/model/", ".h", ".cc"):
        for number, line in enumerate(tree.lines(path), 1):
            match = pattern.search(line)
            if match:
                yield Finding(path, number, f"model/ names a format: {match.group(0)}")


def opcodes(tree):
    """Codes and names are unique, and each opcode stands in some test of ax."""
    tests = "\n".join(tree.text(path) for path in tree.under("tests/ax/"))
    seen = {}
    for number, words in rows(tree, OPCODES, "OPCODE|FLOAT_OPCODE"):
        for key in words[0], words[1].lower():
            if key in seen:
                yield Finding(OPCODES, number, f"{key} stands in line {seen[key]} too")
            seen[key] = number
        if not re.search(rf"\b{words[0].rstrip('_')}_?\b", tests):
            yield Finding(OPCODES, number, f"no test in tests/ax has {words[0]}")


def first_words(tree, path, macro):
    """(line, first argument) of each row, whose other arguments may be expressions."""
    if tree.has(path):
        for number, line in enumerate(tree.lines(path), 1):
            match = re.match(rf"(?:{macro})\((\w+),", line)
            if match:
                yield number, match.group(1)


def template_codes(tree):
    """CODE(X, …) and codes/X.cc, which holds X::print; a case `code X: …` in tests/report."""
    cases = "\n".join(tree.text(path) for path in tree.under("tests/report/cases/"))
    listed = set()
    for number, name in first_words(tree, CODES, "CODE"):
        listed.add(name)
        path = f"src/report/codes/{name}.cc"
        if not tree.has(path):
            yield Finding(CODES, number, f"there is no {path}")
        elif f"void {name}::print(" not in tree.text(path):
            yield Finding(path, 1, f"does not define {name}::print")
        if f"case code {name}: " not in cases:
            yield Finding(CODES, number, f"no case `code {name}: …` in tests/report/cases")
    for name in sorted(_stems(tree, "src/report/codes/", ".cc") - listed):
        yield Finding(f"src/report/codes/{name}.cc", 1, "not in codes.def")


def template_macros(tree):
    """Each line of builtins.def has a case `macro $NAME: …` in tests/report."""
    cases = "\n".join(line for path in tree.under("tests/report/cases/")
                      for line in tree.lines(path) if line.startswith("case "))
    for number, name in first_words(tree, BUILTINS, "BUILTIN|POINTER|ACTION"):
        if f"macro ${name}:" not in cases:
            yield Finding(BUILTINS, number, f"no case `macro ${name}: …` in tests/report/cases")


RULES = {
    "packets": packets,
    "packet-tests": packet_tests,
    "commands": commands,
    "formats": formats,
    "model-names-no-format": model_names_no_format,
    "opcodes": opcodes,
    "template-codes": template_codes,
    "template-macros": template_macros,
}
