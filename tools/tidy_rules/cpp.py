"""What stands in a C++ file: its functions and how long they are, its classes, what those declare.

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


class Declaration(NamedTuple):
    """What stands outside of functions, up to its semicolon or its body."""

    head: str
    line: int
    scopes: tuple  # the names around it, as `namespace a::b`, `class A`; outermost first
    has_body: bool


class Code(NamedTuple):
    blanked: str  # the source with everything but code replaced; lines stay where they are
    functions: list
    declarations: list


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


def strip_prefix(head):
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
    head = strip_prefix(head)
    if _SCOPE.search(head) or _CLASS.search(head) and "=" not in head:
        return "scope"
    if _BODY.search(head) or _INITIALISERS.search(head):
        return "body"
    return "value"


def _name(head):
    head = strip_prefix(head)
    at_operator = re.search(r"\boperator\b", head)
    found = _NAME.search(head, at_operator.start() if at_operator else 0)
    return found.group(1) or found.group(2) if found else "lambda"


_TOKEN = re.compile(r"[{}();:]|[^{}();:]+")
_BRACE = re.compile(r"[{}]")


class _Reader:
    """Follows the braces of a file. Of a function's body it finds the end, and looks at no more."""

    def __init__(self, code):
        self.code = code
        self.functions = []
        self.declarations = []
        self.stack = []  # of (kind, head, line)
        self.head, self.head_line, self.line = "", 0, 1
        self.parens = 0

    def declare(self, has_body):
        if self.head.strip() and all(kind == "scope" for kind, _, _ in self.stack):
            scopes = tuple(strip_prefix(head) for _, head, _ in self.stack)
            self.declarations.append(Declaration(self.head, self.head_line, scopes, has_body))

    def body(self, at):
        """Where the body that opens at `at` has ended."""
        depth = 1
        for brace in _BRACE.finditer(self.code, at + 1):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                begin = self.head_line or self.line
                self.line += self.code.count("\n", at, brace.start())
                self.functions.append(Function(_name(self.head), begin, self.line - begin + 1))
                return brace.end()
        raise CannotRead(f"line {self.line}: a brace is not closed")

    def open(self, at):
        """Where to go on behind an opening brace."""
        kind = "value" if self.parens else _kind(self.head)
        end = at + 1
        if kind == "body":
            self.declare(True)
            end = self.body(at)
        else:
            self.stack.append((kind, self.head, self.head_line or self.line))
        if kind == "value":
            self.head += "{"
        else:
            self.head, self.head_line = "", 0
        return end

    def close(self):
        if not self.stack:
            raise CannotRead(f"line {self.line}: a brace too many")
        if self.stack.pop()[0] == "value":
            self.head += "}"

    def add(self, text):
        self.parens += (text == "(") - (text == ")")
        if not self.head.strip() and text.strip():
            blank_lines = text[:len(text) - len(text.lstrip())].count("\n")
            self.head_line = self.line + blank_lines
        self.head += text
        self.line += text.count("\n")

    def read(self):
        at = 0
        while token := _TOKEN.match(self.code, at):
            text, at = token.group(), token.end()
            if text == "{":
                at = self.open(token.start())
            elif text == "}":
                self.close()
            elif text == ";" and not self.parens:
                self.declare(False)
                self.head, self.head_line = "", 0
            elif text == ":" and self.head.strip() in _ACCESS:
                self.head, self.head_line = "", 0
            else:
                self.add(text)
        if self.stack:
            raise CannotRead(f"line {self.stack[-1][2]}: a brace is not closed")


def read(source):
    """A file's Code. Raises CannotRead when the braces do not match."""
    reader = _Reader(blank(source))
    reader.read()
    return Code(reader.code, reader.functions, reader.declarations)


def functions(source):
    """All functions of a file, in order. Raises CannotRead when the braces do not match."""
    return read(source).functions
