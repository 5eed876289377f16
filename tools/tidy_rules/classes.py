"""How large a class is: its member functions, and the files that define them.

What counts: each member function that the class declares, public, protected or private, static or
virtual, template or overload, constructors and operators too. What does not: `= default` and
`= delete`, friends, nested classes (each counts by itself), and what a base declares.
"""

import re

from .cpp import CannotRead, strip_prefix
from .tree import Finding

METHODS_MAX = 40
FILES_MAX = 3

_NAMESPACE = re.compile(r"^(?:inline\s+)?namespace\s+([\w:]+)$")
_CLASS = re.compile(r"^(?:class|struct|union)\s+([A-Za-z_][\w:]*(?:\s*<.*?>)?)\s*(?:final\b\s*)?"
                    r"(?::(?!:)|$)", re.DOTALL)
_OTHER = re.compile(r"^(?:friend|using|typedef|static_assert)\b")
_DROPPED = re.compile(r"=\s*(?:default|delete)\s*$")
# A name and what it takes, unless it is a pointer to a function: `void (*f)(int)`.
_FUNCTION = re.compile(r"[\w~]\s*\((?!\s*(?:\w+::)*[*&]+\s*\w*\s*\))")
_DEFINED = re.compile(r"([A-Za-z_]\w*(?:::\w+)*)::(?:~?\w+|operator\W[^(]*|operator \w+)\s*\(")


def _collapse(pattern, text, by=""):
    """Pairs of brackets taken off, from the inside out."""
    before = None
    while before != text:
        before, text = text, re.sub(pattern, by, text)
    return text


def _without_templates(head):
    return _collapse(r"(?<=\w)<[^<>;]*(?<!-)>(?!=)", head)


def methods_in(head):
    """How many member functions a declaration in a class's body declares: `int f(), g(int)`."""
    head = strip_prefix(head)
    if _OTHER.match(head) or _DROPPED.search(head):
        return 0
    if re.search(r"\boperator\b", head):
        return 1
    head = re.sub(r"\bdecltype\s*\([^()]*\)|\bexplicit\s*\([^()]*\)", "auto", head)
    head = _without_templates(head)
    first = _FUNCTION.search(head)
    if not first or re.search(r"[={]", head[:first.start()]):
        return 0
    names = _collapse(r"\([^()]*\)", head[first.start():], "\0")
    names = re.split(r"(?<!:):(?!:)", names)[0]  # without what a constructor initialises
    return sum(re.search(r"[\w~]\s*\0", name) is not None for name in names.split(","))


def _around(scopes):
    """The name that the scopes give together, and whether the innermost is a class."""
    names = [_NAMESPACE.match(scope) or _CLASS.match(scope) for scope in scopes]
    is_class = bool(scopes) and _CLASS.match(scopes[-1]) is not None
    return "::".join("".join(name.group(1).split()) for name in names if name), is_class


def _declarations(tree, *suffixes):
    """(path, Declaration, name around it, whether that is a class's)"""
    for path in tree.under("src/", *suffixes):
        try:
            for one in tree.code(path).declarations:
                yield path, one, *_around(one.scopes)
        except CannotRead:
            pass  # function-length says so


def _methods(tree):
    """{(class, path): [line of each member function]}"""
    found = {}
    for path, one, name, is_class in _declarations(tree, ".h", ".cc"):
        if is_class:
            found.setdefault((name, path), []).extend([one.line] * methods_in(one.head))
    return found


def class_methods(tree):
    for (name, path), lines in _methods(tree).items():
        if len(lines) > METHODS_MAX:
            name = name.removeprefix("tracewell::")
            yield Finding(path, lines[0], f"{name} declares {len(lines)} member functions, at most "
                          f"{METHODS_MAX}: give a part of them, with the members that they use, "
                          "to a class of its own", name, len(lines))


def class_files(tree):
    known = {name for name, _ in _methods(tree)}
    files = {}  # class -> {path: line of the first definition in it}
    for path, one, name, is_class in _declarations(tree, ".cc"):
        match = _DEFINED.search(_without_templates(strip_prefix(one.head)))
        if is_class or not one.has_body or not match:
            continue
        name = "::".join(filter(None, (name, match.group(1))))
        if name in known:
            files.setdefault(name, {}).setdefault(path, one.line)
    for name, places in files.items():
        if len(places) > FILES_MAX:
            name = name.removeprefix("tracewell::")
            path, line = next(iter(places.items()))
            yield Finding(path, line, f"{name} is defined in {len(places)} files, at most "
                          f"{FILES_MAX}: {', '.join(places)}; a file that stands for a part of "
                          "it wants a class of its own", name, len(places))


RULES = {"class-methods": class_methods, "class-files": class_files}
