"""Words that may stand nowhere. The patterns are written so that they do not find themselves."""

import re

from .tree import DATA, Finding

UNFINISHED = re.compile(r"\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b|\bnot implemente[d]\b", re.IGNORECASE)
PLACE = re.compile(r"(?<![\w.$}])/(?:work|root)[/]\w|\.\./share[d]\b|(?<!\w)/home[/]\w|/tmp/b[-]\w")
HOSTS = re.compile(
    r"\b(?:deb\.debia[n]|pypi\.or[g]|files\.pythonhoste[d]|registry[.-]\w+\.\w|docker\.i[o]"
    r"|ghcr\.i[o]|quay\.i[o]|npmjs\.co[m]|crates\.i[o]|conan\.i[o]|nexu[s]\.|artifactor[y])"
)
TICKET = re.compile(r"\b(?:issue|ticket|PR)s?\s*#?\d+", re.IGNORECASE)


def _search(tree, pattern, text, paths):
    for path in paths:
        for number, line in enumerate(tree.lines(path), 1):
            match = pattern.search(line)
            if match:
                yield Finding(path, number, f"{text}: {match.group(0)}")


def unfinished(tree):
    yield from _search(tree, UNFINISHED, "unfinished work", tree.written())


def workplace(tree):
    """A path of the machine that somebody works on, in any file at all."""
    paths = [p for p in tree.files if not DATA.match(p)]
    yield from _search(tree, PLACE, "a path of a workplace", paths)


def registry_host(tree):
    """Packages are named, never where they come from: that is the machine's own setting."""
    paths = [p for p in tree.files if not DATA.match(p)]
    yield from _search(tree, HOSTS, "a package registry", paths)


def ticket_number(tree):
    yield from _search(tree, TICKET, "say what it is about instead", tree.written())


RULES = {
    "unfinished": unfinished,
    "workplace": workplace,
    "registry-host": registry_host,
    "ticket-number": ticket_number,
}
