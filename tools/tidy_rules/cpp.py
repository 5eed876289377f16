"""How long the functions of a C++ file are.

Not a parser: comments, strings and preprocessor lines are blanked, then braces are followed. What
stands before an opening brace outside of functions tells a function's body from a namespace, a
class and an initialiser. A lambda counts with the function around it.
"""

import re
from typing import NamedTuple


class Function(NamedTuple):
    name: str
    line: int  # where the declaration begins
    length: int  # lines, to the closing brace


class CannotRead(Exception):
    pass


_LEXEME = re.compile(
    r"""
      (?P<raw>(?:u8|u|U|L)?R"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)")
    | (?P<block>/\*.*?\*/)
    | (?P<line>//(?:\\\n|[^\n])*)
    | (?P<number>\b\d(?:'?[\w.])*)
    | (?P<string>"(?:\\.|[^"\\\n])*")
    | (?P<char>'(?:\\.|[^'\\\n])+')
    | (?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def blank(source):
    """The source with everything but code replaced; lines stay where they are."""

    def replace(match):
        text = match.group(0)
        if match.lastgroup == "number":
            return text.replace("'", "")
        kept = "\n" * text.count("\n")
        if match.lastgroup in ("raw", "tag", "string"):
            return '""' + kept
        return ("0" if match.lastgroup == "char" else " ") + kept

    return _LEXEME.sub(replace, source)


_CLASS = re.compile(r"(?:^|[\s>])(?:class|struct|union|enum)\b(?!.*\)\s*(?:const|noexcept|override"
                    r"|final|->|&|\s)*$)", re.DOTALL)
_ACCESS = ("public", "private", "protected")
_SCOPE = re.compile(r"(?:^|\s)namespace\b|^extern\s*\"\"$")
_TAIL = (r"(?:\s|const\b|noexcept\b(?:\s*\([^()]*\))?|override\b|final\b|mutable\b|constexpr\b"
         r"|try\b|&&?|->[^{};=]*|requires\b[^{};]*)*")
_BODY = re.compile(r"\)" + _TAIL + r"$")
_INITIALISERS = re.compile(r"\)" + _TAIL + r":(?!:)\s*[A-Za-z_].*[)}]\s*$", re.DOTALL)
_NAME = re.compile(r"(operator\s*(?:\(\)|\[\]|\"\"\s*\w+|[^\s\w(]+|\s\w+)|[~\w:]+?)\s*\("
                   r"|(\w+)\s*=\s*\[")


def _strip_prefix(head):
    """Without attributes and templates' parameters, which may hold anything."""
    head = re.sub(r"\[\[.*?\]\]|\balignas\s*\([^()]*\)|__attribute__\s*\(\(.*?\)\)", " ", head,
                  flags=re.DOTALL)
    head = head.strip()
    while head.startswith("template"):
        depth, end = 0, len(head)
        for at, char in enumerate(head):
            depth += (char == "<") - (char == ">")
            if char == ">" and depth == 0:
                end = at + 1
                break
        head = head[end:].strip()
    return head


def _kind(head):
    """What a brace opens after `head`, outside of functions: scope, body or value."""
    head = _strip_prefix(head)
    if _SCOPE.search(head) or _CLASS.search(head) and "=" not in head:
        return "scope"
    if _BODY.search(head) or _INITIALISERS.search(head):
        return "body"
    return "value"


def _name(head):
    head = _strip_prefix(head)
    at_operator = re.search(r"\boperator\b", head)
    found = _NAME.search(head, at_operator.start() if at_operator else 0)
    return found.group(1) or found.group(2) if found else "lambda"


def functions(source):
    """All functions of a file, in order. Raises CannotRead when the braces do not match."""
    code = blank(source)
    found = []
    stack = []  # of (kind, name, line)
    head, head_line, line = "", 0, 1
    parens = 0
    for char in code:
        if char == "\n":
            line += 1
        in_function = any(kind == "body" for kind, _, _ in stack)
        if char == "{":
            if in_function:
                stack.append(("inner", "", line))
                continue
            kind = "value" if parens else _kind(head)
            stack.append((kind, _name(head), head_line or line))
            if kind == "value":
                head += "{"
            else:
                head, head_line = "", 0
        elif char == "}":
            if not stack:
                raise CannotRead(f"line {line}: a brace too many")
            kind, name, begin = stack.pop()
            if kind == "body":
                found.append(Function(name, begin, line - begin + 1))
            if kind == "value":
                head += "}"
        elif in_function:
            continue
        elif char == ";" and not parens or char == ":" and head.strip() in _ACCESS:
            head, head_line = "", 0
        else:
            parens += (char == "(") - (char == ")")
            if not head.strip() and not char.isspace():
                head_line = line
            head += char
    if stack:
        raise CannotRead(f"line {stack[-1][2]}: a brace is not closed")
    return found
