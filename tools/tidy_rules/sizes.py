"""Lines, files, functions, the first include, white space."""

import re

from .cpp import CannotRead
from .tree import Finding

COLUMNS_MAX = 100
FILE_LINES_MAX = 600
HEADER_LINES_MAX = 200
PACKET_LINES_MAX = 150
FUNCTION_LINES_MAX = 70


def line_length(tree):
    """At most 100 columns. In Markdown, tables, code blocks and links may be longer."""
    for path in tree.written():
        in_block = False
        for number, line in enumerate(tree.lines(path), 1):
            if path.endswith(".md"):
                in_block ^= line.lstrip().startswith("```")
                if in_block or line.lstrip().startswith("|") or "](" in line or "://" in line:
                    continue
            if len(line) > COLUMNS_MAX:
                yield Finding(path, number, f"{len(line)} columns, at most {COLUMNS_MAX}")


def file_length(tree):
    for path in tree.written():
        length = len(tree.lines(path)) - 1
        most = HEADER_LINES_MAX if path.endswith(".h") else FILE_LINES_MAX
        if path.startswith("src/agent/packets/"):
            most = PACKET_LINES_MAX
        if length > most:
            yield Finding(path, 1, f"{length} lines, at most {most}")


def function_length(tree):
    for path in tree.under("src/", ".cc", ".h") + tree.under("include/", ".h"):
        try:
            for function in tree.code(path).functions:
                if function.length > FUNCTION_LINES_MAX:
                    yield Finding(path, function.line, f"{function.name} has {function.length} "
                                  f"lines, at most {FUNCTION_LINES_MAX}")
        except CannotRead as why:
            yield Finding(path, 1, f"functions cannot be told apart: {why}")


def own_header(tree):
    """A source includes its own header first: so it proves that the header needs nothing else."""
    for path in tree.under("src/", ".cc"):
        header = path[:-len("cc")] + "h"
        first = re.search(r'^#include\s+(\S+)', tree.text(path), re.MULTILINE)
        if tree.has(header) and (not first or first[1] != f'"{header[len("src/"):]}"'):
            yield Finding(path, 1, f"its first include is not its own header, {header}")


def white_space(tree):
    for path in tree.written():
        for number, line in enumerate(tree.lines(path), 1):
            if re.search(r"[ \t\r]$", line):
                yield Finding(path, number, "white space at the end")
            if "\t" in line and not path.endswith("Makefile"):
                yield Finding(path, number, "a tab")
        if tree.text(path) and not tree.text(path).endswith("\n"):
            yield Finding(path, len(tree.lines(path)), "no newline at the end")


RULES = {
    "line-length": line_length,
    "file-length": file_length,
    "function-length": function_length,
    "own-header": own_header,
    "white-space": white_space,
}
