"""C and C++ as words: enough to find string literals, and whose arguments they are.

Not a parser: comments and #include are left out, literals that stand side by side are one word.
"""

import re
from typing import NamedTuple


class Word(NamedTuple):
    kind: str  # string, number, name or mark
    text: str  # of a string: what it says, escapes as they are written


_LEXEME = re.compile(
    r"""
      (?P<skip>/\*.*?\*/|//(?:\\\n|[^\n])*|^[ \t]*\#[ \t]*include[^\n]*|\\\n|\s+)
    | (?:u8|u|U|L)?R"(?P<tag>[^()\\\s]{0,16})\((?P<raw>.*?)\)(?P=tag)"
    | "(?P<string>(?:\\.|[^"\\\n])*)"
    | (?P<number>'(?:\\.|[^'\\\n])+'|\b\d(?:'?[\w.])*)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<mark>->|::|\S)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


_OPEN, _CLOSE = "([{", ")]}"


class Code(list):
    """The words of a file, in order. ends: behind which word the bracket at a place is closed;
    places: where each name stands."""

    def index(self):
        self.ends, self.places, begun = {}, {}, []
        for at, (kind, text) in enumerate(self):
            if kind == "name":
                self.places.setdefault(text, []).append(at)
            if kind == "mark" and text in _OPEN:
                begun.append(at)
            elif kind == "mark" and text in _CLOSE and begun:
                self.ends[begun.pop()] = at + 1
        return self


def words(source):
    """The words of a file."""
    found = Code()
    for match in _LEXEME.finditer(source):
        kind = match.lastgroup
        if kind == "skip":
            continue
        text = match.group(kind)
        kind = "string" if kind == "raw" else kind
        if kind == "string" and found and found[-1].kind == "string":
            found[-1] = Word("string", found[-1].text + text)
        else:
            found.append(Word(kind, text))
    return found.index()


def end_of(code, at):
    """Behind the bracket that closes the one at `at`."""
    if isinstance(code, Code):
        return code.ends.get(at, len(code))
    depth = 0
    for end in range(at, len(code)):
        word = code[end]
        if word.kind == "mark":
            depth += (word.text in _OPEN) - (word.text in _CLOSE)
        if depth == 0:
            return end + 1
    return len(code)


def parts(code, at):
    """What stands in the bracket at `at`, cut at its commas: lists of words."""
    found, depth = [[]], 0
    for word in code[at + 1:end_of(code, at) - 1]:
        if word[0] == "mark":
            text = word[1]
            if text == "," and depth == 0:
                found.append([])
                continue
            if text in "()[]{}":
                depth += 1 if text in _OPEN else -1
        found[-1].append(word)
    return found


def is_mark(code, at, text):
    return 0 <= at < len(code) and code[at][1] == text and code[at][0] == "mark"


def calls(code):
    """(name, its arguments, where it begins) of each call, declaration and definition."""
    for name, places in code.places.items():
        for at in places:
            if is_mark(code, at + 1, "("):
                yield name, parts(code, at + 1), at


def only_string(part):
    """What this argument says if it is a literal and nothing else, or None."""
    return part[0].text if len(part) == 1 and part[0].kind == "string" else None


def choices(part):
    """The literals that this argument may be: one, or both of `condition ? "a" : "b"`."""
    begin = 0
    for at, word in enumerate(part):
        if word == Word("mark", "?"):
            begin = at + 1
            break
    rest = part[begin:]
    if not rest or not all(word.kind == "string" or word == Word("mark", ":") for word in rest):
        return []
    return [word.text for word in rest if word.kind == "string"]


def table(code, name):
    """The rows of arrays and lists of that name (a pattern): lists of parts."""
    named = [places for text, places in code.places.items() if re.fullmatch(name, text)]
    for at in sorted(place for places in named for place in places):
        end = at + 1
        if is_mark(code, end, "["):
            end = end_of(code, end)
        end += is_mark(code, end, "=")
        if not is_mark(code, end, "{"):
            continue
        rows = [row for row in parts(code, end) if row]
        while len(rows) == 1 and is_mark(rows[0], 0, "{") and end_of(rows[0], 0) == len(rows[0]):
            rows = [row for row in parts(rows[0], 0) if row]
        yield [parts(row, 0) if is_mark(row, 0, "{") else [row] for row in rows]
