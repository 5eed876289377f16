"""Files are opened, made, renamed, cut, removed and mapped in src/base only: docs/threat-model.md.

What the list allows, it allows by number, with a decision and a reason; a decision says how many
calls it allows, so that the list grows with a decision only.
"""

import re
from typing import NamedTuple

from .cpp import CannotRead, blank
from .tree import Finding

LIST = "tools/opens_files.list"
ROOM = "src/base/"

_CALLS = """
    open open64 openat openat64 openat2 creat creat64 fopen fopen64 freopen popen tmpfile tmpfile64
    mkstemp mkostemp mkstemps mkdtemp mktemp opendir scandir ftw nftw glob shm_open shm_unlink
    sem_open truncate truncate64 rename renameat renameat2 unlink unlinkat remove rmdir mkdir
    mkdirat mknod mknodat mkfifo mkfifoat symlink symlinkat link linkat chmod fchmodat chown lchown
    fchownat utime utimes utimensat futimesat mmap mmap64 name_to_handle_at open_by_handle_at
""".split()
_NAME = "|".join(sorted(_CALLS, key=len, reverse=True))
# `name(` and `::name`, with what stands before it: a dot, an arrow or a class make it another's.
_CALL = re.compile(rf"(?P<scope>\w+::|(?<![\w>])::)?\b(?P<name>{_NAME})\b(?P<open>\s*\()?")
_NUMBER = re.compile(rf"\bcall\s*\(\s*(?:SYS|__NR)_(?P<name>{_NAME}|mmap2)\b"
                     rf"|\bsyscall\s*\(\s*(?:SYS|__NR)_(?P<other>{_NAME}|mmap2)\b")
_LIBRARY = re.compile(r"\bstd\s*::\s*(filesystem|(?:basic_)?(?:i|o)?f(?:stream|ilebuf))\b")
_HEADER = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(filesystem|fstream)>", re.MULTILINE)
_CLASS = re.compile(r"\b(?:class|struct|union)\s+(\w+)(?:\s+final)?(?:\s*:[^;{}()]*)?\s*\{")
_NO_TYPE = {"return", "co_return", "co_await", "co_yield", "else", "do", "case", "throw", "and",
            "or", "not", "goto", "new", "delete", "sizeof"}


def _is_declared(before):
    """Whether what stands before a name and its parentheses is the type that it returns."""
    before = before[-200:].rstrip(" \t\n")
    if word := re.search(r"(\w+)$", before):
        return word.group(1) not in _NO_TYPE and not word.group(1).isdigit()
    if re.search(r"[\w>][*&]+$", before):
        return True
    return before.endswith(">") and not before.endswith("->")


def _classes(code):
    """(name, begin, end) of each class body."""
    for match in _CLASS.finditer(code):
        depth, at = 1, match.end()
        for brace in re.finditer(r"[{}]", code[at:]):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                yield match.group(1), at, at + brace.start()
                break


def _of_library(match, code):
    """A function of the library by how it is written: not a member, not a declaration."""
    scope = match.group("scope") or ""
    before = code[max(0, match.start() - 200):match.start()]
    if scope not in ("", "::", "std::") or re.search(r"(\.|->|~)\s*$", before):
        return False
    if not match.group("open"):
        return scope == "::"  # its address is taken
    if scope == "std::" and match.group("name") == "remove":
        return re.match(r"[^(),]*(?:\([^()]*\)[^(),]*)*\)", code[match.end():]) is not None
    return scope != "" or not _is_declared(before)


def _read(tree, path):
    """The code of a file without what is no code, and its functions."""
    try:
        code = tree.code(path)
        return code.blanked, code.functions
    except CannotRead:  # function-length says so
        return blank(tree.text(path)), []


class _Members:
    """Which classes have a function that is named like one of the library's."""

    def __init__(self, tree):
        self.of = {}  # class -> names
        for path in tree.under("src/", ".h", ".cc"):
            code = _read(tree, path)[0]
            for name, begin, end in _classes(code):
                for match in _CALL.finditer(code, begin, end):
                    if match.group("open") and not match.group("scope") and \
                            _is_declared(code[max(0, match.start() - 200):match.start()]):
                        self.of.setdefault(name, set()).add(match.group("name"))

    def hides(self, name, code, at, methods):
        """Within a class that has a member of that name, the bare name is the member."""
        around = [one for one, begin, end in _classes(code) if begin <= at < end]
        line = code.count("\n", 0, at) + 1
        for method in methods:
            if method.line <= line < method.line + method.length:
                around += method.name.split("::")[:-1]
        return any(name in self.of.get(one, ()) for one in around)


def _calls(tree, path, members):
    text = tree.text(path)
    for match in _HEADER.finditer(text):
        yield Finding(path, text.count("\n", 0, match.start()) + 1, f"<{match.group(1)}>")
    code, methods = _read(tree, path)
    found = [(match.start(), f"std::{match.group(1)}") for match in _LIBRARY.finditer(code)]
    found += [(match.start(), match.group("name") or match.group("other"))
              for match in _NUMBER.finditer(code)]
    for match in _CALL.finditer(code):
        name, scope = match.group("name"), match.group("scope")
        if _of_library(match, code) and \
                (scope or not members.hides(name, code, match.start(), methods)):
            found.append((match.start(), name))
    for at, what in sorted(found):
        yield Finding(path, code.count("\n", 0, at) + 1, what)


class _Exception(NamedTuple):
    line: int
    count: int
    decision: str


def _exceptions(tree):
    """{path: _Exception}, and what is wrong with the list."""
    listed, wrong = {}, []
    for number, line in enumerate(tree.lines(LIST) if tree.has(LIST) else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = re.match(r"(\S+) +(\d+) +(\d{4}) +(\S.{9,})$", line)
        if not fields:
            wrong.append(Finding(LIST, number, "is not `path count decision reason`"))
        elif fields.group(1) in listed:
            wrong.append(Finding(LIST, number, f"{fields.group(1)} stands there twice"))
        else:
            listed[fields.group(1)] = _Exception(number, int(fields.group(2)), fields.group(3))
    return listed, wrong


def _decided(tree, listed):
    """The sum of each decision's exceptions is at most what the decision states."""
    sums = {}
    for one in listed.values():
        sums[one.decision] = sums.get(one.decision, 0) + one.count
    for decision, total in sorted(sums.items()):
        pages = tree.under(f"docs/decisions/{decision}-", ".md")
        stated = re.search(r"^Calls outside of `src/base`: (\d+)\.$", tree.text(pages[0]),
                           re.MULTILINE) if pages else None
        if not stated:
            yield Finding(LIST, 1, f"there is no decision {decision} that says "
                          "`Calls outside of `src/base`: N.`")
        elif int(stated.group(1)) != total:
            yield Finding(LIST, 1, f"{total} calls by decision {decision}, which says "
                          f"{stated.group(1)}; more take a decision of their own")


def opens_files(tree):
    """No file outside of src/base opens others by itself, but for what the list allows."""
    listed, wrong = _exceptions(tree)
    yield from wrong
    yield from _decided(tree, listed)
    members = _Members(tree)
    counts = dict.fromkeys(listed, 0)
    for path in tree.under("src/", ".h", ".cc", ".c"):
        if path.startswith(ROOM):
            continue
        found = list(_calls(tree, path, members))
        allowed = listed[path].count if path in listed else 0
        counts[path] = len(found)
        if len(found) > allowed:
            for one in found:
                yield Finding(path, one.line, f"{one.text}: files are opened through src/base "
                              f"(open.h, folder.h, file.h, mapping.h, paths.h); {allowed} allowed")
    for path, one in listed.items():
        if counts[path] < one.count:
            yield Finding(LIST, one.line, f"{path}: {one.count} allowed, {counts[path]} found; "
                          "lower it")


RULES = {"opens-files": opens_files}
