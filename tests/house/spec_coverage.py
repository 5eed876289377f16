#!/usr/bin/env python3
"""docs/spec-coverage.md: each statement of the manuals has a test that exists, or a reason why it
has none, and the counts at its head are those of its rows. spec_coverage.py [ROOT]"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["TRACEWELL_SOURCE"])
PAGE = "docs/spec-coverage.md"
COLUMNS = ["section", "statement", "test", "why there is none, or not as written"]
COUNTS = ["manual", "statements", "with a test", "without"]
LEAST = 200  # statements that the manuals are known to make; fewer rows and some went missing


def is_test(path):
    """Does it run? Tests are found by their place; scripts have to be executable."""
    if path.is_dir():
        return any(path.glob("input.*")) or any(path.glob("expect*"))
    return path.suffix not in (".sh", ".py") or os.access(path, os.X_OK)


def has_name(path, name):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".cc":
        suite, _, case = name.partition(".")
        return re.search(rf"^TEST(_F|_P)?\({re.escape(suite)},\s*{re.escape(case)}\)", text, re.M)
    return name in text


def check_reference(root, reference):
    """What is wrong with `path` or `path::name`; nothing if nothing is."""
    name, separator, part = reference.partition("::")
    path = root / name
    if not name.startswith("tests/") or ".." in name:
        return f"{name} is not below tests/"
    if not path.exists():
        return f"there is no {name}"
    if not is_test(path):
        return f"{name} is no test"
    if separator and not (path.is_file() and has_name(path, part)):
        return f"{name} has no {part}"
    if path.suffix == ".cc" and not separator:
        return f"{name} has many tests; which?"
    return ""


def cells(line):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def check_page(root, text):
    """What is wrong with the page, a line each."""
    wrong, counted, told, title, columns = [], {}, {}, None, None
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{PAGE}:{number}"
        if line.startswith("## "):
            title, columns = line[3:].strip(), None
        if not line.startswith("|"):
            columns = None
            continue
        row = cells(line)
        if columns is None:
            columns = row
            if columns not in (COLUMNS, COUNTS):
                wrong.append(f"{where}: a table with other columns")
            continue
        if set(line) <= set("|- :"):
            continue
        if len(row) != 4:
            wrong.append(f"{where}: {len(row)} cells, not 4")
        elif columns == COUNTS:
            told[row[0]] = row[1:]
        else:
            section, statement, tests, why = row
            tally = counted.setdefault(title, [0, 0, 0])
            tally[0] += 1
            tally[1 if tests else 2] += 1
            if not section or not statement:
                wrong.append(f"{where}: no section, or no statement")
            if not tests and not why:
                wrong.append(f"{where}: neither a test nor a reason")
            found = re.findall(r"``? ?(.+?) ?``?(?:<br>|$)", tests)
            if tests and not found:
                wrong.append(f"{where}: tests stand in backquotes, with <br> between them")
            wrong += [f"{where}: {fault}" for one in found if (fault := check_reference(root, one))]
    for manual in counted.keys() | told.keys():
        have = [str(count) for count in counted.get(manual, [0, 0, 0])]
        if told.get(manual) != have:
            wrong.append(f"{PAGE}: {manual}: the head says {told.get(manual)}, the rows {have}")
    total = sum(tally[0] for tally in counted.values())
    if total < LEAST:
        wrong.append(f"{PAGE}: {total} statements, fewer than {LEAST}")
    return wrong


def check_itself(root):
    """The rules find what they are for."""
    head = f"| {' | '.join(COUNTS)} |\n|---|---|---|---|\n| M | {{}} | {{}} | {{}} |\n\n## M\n\n"
    table = f"| {' | '.join(COLUMNS)} |\n|---|---|---|---|\n"
    own = "tests/house/spec_coverage.py"
    missing = "no" + "body wrote this"
    for row, counts, fault in [
            (f"| s | x | `{own}` | |", (1, 1, 0), None),
            (f"| s | x | `{own}`<br>`{own}::check_itself` | |", (1, 1, 0), None),
            ("| s | x | | not supported |", (1, 0, 1), None),
            ("| s | x | | |", (1, 0, 1), "neither a test nor a reason"),
            (f"| s | x | `{own}::{missing}` | |", (1, 1, 0), f"has no {missing}"),
            ("| s | x | `tests/none.rsp` | |", (1, 1, 0), "there is no tests/none.rsp"),
            ("| s | x | `tests/house/trees.py` | |", (1, 1, 0), "is no test"),
            ("| s | x | `tests/formats/cases_test.cc` | |", (1, 1, 0), "which?"),
            ("| s | x | `tests/formats/cases_test.cc::FormatCases.None` | |", (1, 1, 0),
             "has no FormatCases.None"),
            ("| s | x | `README.md` | |", (1, 1, 0), "not below tests/"),
            ("| s | x | tests/none.rsp | |", (1, 1, 0), "backquotes"),
            ("| s | | | because |", (1, 0, 1), "no statement"),
            ("| s | x | y |", (0, 0, 0), "3 cells"),
            ("| s | x | | why |", (2, 1, 1), "the head says")]:
        found = [one for one in check_page(root, head.format(*counts) + table + row)
                 if "fewer than" not in one]
        if (fault is None) != (not found) or (fault and fault not in found[0]):
            sys.exit(f"the check of {row!r} says {found}, not {fault}")


def main():
    check_itself(ROOT)
    wrong = check_page(ROOT, (ROOT / PAGE).read_text(encoding="utf-8"))
    print("\n".join(wrong) or "ok")
    sys.exit(1 if wrong else 0)


main()
