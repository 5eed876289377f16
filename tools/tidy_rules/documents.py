"""What must be written down, and links that lead somewhere."""

import os
import re

from .tree import Finding

_LINK = re.compile(r"\[[^\]]*\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)")


def links(tree):
    """Links in Markdown lead to files (or folders) of the tree."""
    folders = {os.path.dirname(path) for path in tree.files}
    folders |= {folder[:at] for folder in folders for at in
                (i for i, char in enumerate(folder) if char == "/")}
    for path in tree.under("", ".md"):
        in_block = False
        for number, line in enumerate(tree.lines(path), 1):
            in_block ^= line.lstrip().startswith("```")
            if in_block:
                continue
            for match in _LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                target = match.group(1).split("#")[0]
                if not target or re.match(r"[a-z]+:", target):
                    continue
                where = os.path.normpath(os.path.join(os.path.dirname(path), target))
                if where not in tree.files and where not in folders and where != ".":
                    yield Finding(path, number, f"leads nowhere: {match.group(1)}")


def room_readme(tree):
    """Each room has a README whose first line is its caption: `# base: what it is`."""
    rooms = sorted({path.split("/")[1] for path in tree.under("src/") if path.count("/") > 1})
    for room in rooms:
        path = f"src/{room}/README.md"
        if not tree.has(path):
            yield Finding(path, 1, "missing")
        elif not re.match(rf"# {room}: \S", tree.lines(path)[0]):
            yield Finding(path, 1, f"does not begin with `# {room}: caption`")


def changelog(tree):
    path = "CHANGELOG.md"
    if not tree.has(path) or not re.search(r"^## \[?Unreleased", tree.text(path), re.MULTILINE):
        yield Finding(path, 1, "has no section `## Unreleased`")


RULES = {
    "links": links,
    "room-readme": room_readme,
    "changelog": changelog,
}
