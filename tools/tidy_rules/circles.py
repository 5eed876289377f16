"""Files that need each other in a circle: none of them can be understood, or tested, by itself.

A .cc (.c) and the header of its name are one unit. A unit needs what it includes. A C file needs
the C files, too, whose functions it names, since those of many are declared in one header.
"""

import os
import re

from .cpp import CannotRead, strip_prefix
from .tree import Finding

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_CALLED = re.compile(r"(\w+)\s*\(")


def _unit(path):
    return os.path.splitext(path)[0]


def _reached(graph, first):
    """The nodes that are reached from the first, in order, each with the way there."""
    ways = {}
    queue = [[first]]
    for way in queue:
        for other in sorted(graph[way[-1]]):
            if other not in ways:
                ways[other] = way + [other]
                queue.append(ways[other])
    return ways


def _circles(graph):
    """(nodes that reach each other, the shortest way from the first of them back to it)"""
    last = None
    while last != len(graph):  # without those that lead to no circle
        last = len(graph)
        graph = {node: others & set(graph) for node, others in graph.items() if others & set(graph)}
    ways = {node: _reached(graph, node) for node in graph}
    for node in sorted(graph):
        around = sorted(other for other in ways[node] if node in ways[other])
        if around and around[0] == node:
            yield around, ways[node][node]


def _findings(graph, verb):
    for circle, way in _circles(graph):
        room = "/".join(circle[0].split("/")[:2])
        names = " -> ".join(unit.removeprefix("src/") for unit in way)
        yield Finding(circle[0], 1, f"{len(circle)} files {verb} in a circle, as {names}: what "
                      "several of them need belongs into a file of its own", room, len(circle))


def include_circles(tree):
    graph = {_unit(path): set() for path in tree.under("src/", ".h", ".cc", ".c")}
    for path in tree.under("src/", ".h", ".cc", ".c"):
        for header in _INCLUDE.findall(tree.text(path)):
            other = _unit("src/" + header)
            if other in graph and other != _unit(path):
                graph[_unit(path)].add(other)
    yield from _findings(graph, "include each other")


def call_circles(tree):
    codes = {}
    for path in tree.under("src/", ".c"):
        try:
            codes[path] = tree.code(path)
        except CannotRead:
            continue  # function-length says so
    seen, own = {}, {}  # function -> the file, of those that others see; file -> all of its own
    for path, code in codes.items():
        for one in code.declarations:
            name = _CALLED.search(strip_prefix(one.head))
            if one.has_body and name:
                own.setdefault(path, set()).add(name.group(1))
                if not re.search(r"\b(?:static|inline)\b", one.head):
                    seen[name.group(1)] = path
    graph = {path: {seen[word] for word in set(_WORD.findall(code.blanked)) - own.get(path, set())
                    if word in seen} for path, code in codes.items()}
    yield from _findings(graph, "call each other")


RULES = {"include-circles": include_circles, "call-circles": call_circles}
