#!/usr/bin/env python3
"""docs/compatibility.md has the versions that stand in the source, and for each version of a layout
a file and a test, or a reason why there is none. compatibility.py [ROOT]"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["TRACEWELL_SOURCE"])
PAGE = "docs/compatibility.md"
LAYOUTS = ["layout", "defined in", "number", "now", "earlier", "written by", "read by"]
VERSIONS = ["layout", "version", "what happens", "file", "test"]
# Names that look like those of a layout of ours, and are none.
NOT_OURS = {
    "src/formats/hooklog/packets.cc": "kMagicBytes",  # CTF's, as TRACEWELL_PACKET_MAGIC
    "src/formats/tfile/description.h": "kTfileMagic",  # GDB's
    "src/formats/trace64/blocks/header.h": "kMagic",  # x64dbg's
    "src/symbols/pe/pe_reader.cc": "kPdbMagics",
    "src/target/linux/kernel/control_groups.cc": "kVersion1 kVersion2",  # the kernel's
    "src/target/linux/memory/small_stacks.cc": "kVersionHead",
    # What a file of ours begins with, whose version is in its name or in a number behind that.
    "src/ring/layout.h": "kMagic",
    "include/tracewell/hook_layout.h": "TRACEWELL_PACKET_MAGIC TRACEWELL_RING_MAGIC",
    "include/tracewell/hook_losses.h": "TRACEWELL_LOSSES_MAGIC TRACEWELL_FAILURES_NAME",
    "include/tracewell/hook_components.h": "TRACEWELL_REGISTERED_MAGIC TRACEWELL_SHAPE_NAME",
}
NAMED = r"k\w*(?:Version|Magic)\w*|TRACEWELL_\w+_(?:VERSION\w*|MAGIC|NAME)|TRACEWELL_PACKET_STREAM"
DEFINITION = re.compile(
    rf"(?:#\s*define\s+(?P<macro>{NAMED})\s+|"
    rf"constexpr\s[\w:<>\s]*?(?P<name>{NAMED})(?:\[\w*\])?\s*=\s*)(?P<value>\"[^\"]*\"|\w+|\{{)")


def value_of(text):
    """A number, or the text of a string or of a number that is one in memory."""
    if text.startswith('"'):
        return text[1:-1].removesuffix("\\n")
    if not re.match(r"\d", text):
        return text
    number = int(re.sub(r"[uUlL]+$", "", text), 0)
    return str(number) if number < 1 << 32 else number.to_bytes(8, "little").decode("latin-1")


def constants(root):
    """{(file, name): value} of all that may be the number of a layout."""
    out = {}
    for folder in ("include", "src"):
        for path in sorted((root / folder).rglob("*.[hc]*")):
            text = path.read_text(encoding="utf-8")
            for one in DEFINITION.finditer(text):
                name = one["macro"] or one["name"]
                out[str(path.relative_to(root)), name] = value_of(one["value"])
    return {key: value for key, value in out.items()
            if key[1] not in NOT_OURS.get(key[0], "").split()}


def tables(text):
    """{columns: [(line, cells)]}"""
    out, columns = {}, None
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|"):
            columns = None
            continue
        row = [cell.strip() for cell in line.split("|")[1:-1]]
        if columns is None:
            columns = tuple(row)
            out.setdefault(columns, [])
        elif not set(line) <= set("|- :"):
            out[columns].append((number, row))
    return out


def words(cell):
    return re.findall(r"[^\s`,]+", cell)


def layout_of(cell):
    """[trace buffer](page) (`.twb`) -> trace buffer"""
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cell).split("(")[0].strip()


def has_name(path, name):
    suite, _, case = name.partition(".")
    wanted = rf"^TEST(_F|_P)?\({re.escape(suite)},\s*{re.escape(case)}\)"
    return re.search(wanted, path.read_text(encoding="utf-8"), re.M)


def check_versions(root, where, row, wrong):
    """The file and the tests of a row are there."""
    _, _, happens, files, tests = row
    if not happens:
        wrong.append(f"{where}: nothing happens")
    if files not in ("made", "none"):
        wrong += [f"{where}: there is no {one}" for one in words(files)
                  if not (root / one).exists()]
    if tests.startswith("none: "):
        return
    for one in words(tests):
        path, separator, name = one.partition("::")
        if not path.startswith("tests/") or not (root / path).is_file():
            wrong.append(f"{where}: there is no test {path}")
        elif separator and not has_name(root / path, name):
            wrong.append(f"{where}: {path} has no {name}")
        elif not separator and not os.access(root / path, os.X_OK):
            wrong.append(f"{where}: {path} is no test")
    if not words(tests):
        wrong.append(f"{where}: no test, and no reason")


def check_layouts(found, rows, wrong):
    """{layout: versions} of those whose numbers are those of the source."""
    out, left = {}, dict(found)
    for number, row in rows:
        where = f"{PAGE}:{number}"
        key = (row[1].strip("`"), row[2].strip("`"))
        value = left.pop(key, None)
        if value is None:
            wrong.append(f"{where}: {key[0]} has no {key[1]}")
        elif words(row[3]) != [value]:
            wrong.append(f"{where}: {key[1]} of {key[0]} is {value}, not {row[3]}")
        # Without a name: a second number of a layout, of which the first one's row tells.
        if layout_of(row[0]):
            out[layout_of(row[0])] = words(row[3]) + words(row[4]) + ["later"]
    wrong += [f"{PAGE}: nothing is said of {name} in {path}" for path, name in left]
    return out


def check(root, text):
    """What is wrong, a line each."""
    wrong, told = [], {}
    all_tables = tables(text)
    rows = all_tables.get(tuple(VERSIONS), [])
    wanted = check_layouts(constants(root), all_tables.get(tuple(LAYOUTS), []), wrong)
    for number, row in rows:
        if len(row) != len(VERSIONS):
            wrong.append(f"{PAGE}:{number}: {len(row)} cells")
            continue
        told.setdefault(row[0], []).extend(words(row[1]))
        check_versions(root, f"{PAGE}:{number}", row, wrong)
    for layout, versions in wanted.items():
        if sorted(told.get(layout, [])) != sorted(versions):
            wrong.append(f"{PAGE}: {layout}: rows tell of {told.get(layout)}, not of {versions}")
    wrong += [f"{PAGE}: no such layout: {one}" for one in told.keys() - wanted.keys()]
    return wrong


def check_itself(root, text):
    """The rules find what they are for."""
    for before, after, fault in [
            ("| `kVersion` | 2 |", "| `kVersion` | 3 |", "is 2, not 3"),
            ("| `TWTIDXA` |", "| `TWTIDXB` |", "is TWTIDXA, not"),
            ("| `kOwnVersion` | 1 |", "| `kNoVersion` | 1 |", "has no kNoVersion"),
            ("| `hooks-2` | `hooks-1` |", "| `hooks-2` | `hooks-0` |", "rows tell of"),
            ("| rings | 2 |", "| rungs | 2 |", "no such layout: rungs"),
            ("tests/layouts/trailer-1.tf", "tests/layouts/trailer-9.tf", "there is no tests"),
            ("OfOtherVersionsAreRefused", "OfNone", "has no Trace64Notes.OfNone"),
            ("none: as components", "none", "there is no test none")]:
        if before not in text:
            sys.exit(f"{PAGE} has no {before!r}")
        if not any(fault in one for one in check(root, text.replace(before, after, 1))):
            sys.exit(f"with {after!r} nothing is wrong")


def main():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    wrong = check(ROOT, text)
    if not wrong:
        check_itself(ROOT, text)
    print("\n".join(wrong) or "ok")
    sys.exit(1 if wrong else 0)


main()
