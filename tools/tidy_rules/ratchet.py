"""The exceptions to the rules: tools/tidy.ratchet, a line `rule name count` for each.

The name is the path of what is wrong, or what the rule says (a class, a room). A rule comes with
the exceptions that there are on that day. From then on the sum of its counts may only shrink: in no
earlier revision that had the rule was it lower. (One that finds more than before is a new rule.)
"""

import collections
import re
import subprocess

from .tree import Finding

PATH = "tools/tidy.ratchet"
RULES = "tools/tidy_rules"  # where they are named, in this revision and in earlier ones
_NAMED = re.compile(r'[{ ]"([a-z-]+)": \w+[,}]')


def read(text):
    """{(rule, name): count}"""
    allowed = {}
    for line in text.splitlines():
        fields = line.split("#")[0].split()
        if fields:
            rule, name, count = fields
            allowed[rule, name] = int(count)
    return allowed


def _sums(allowed):
    sums = collections.Counter()
    for (rule, _), count in allowed.items():
        sums[rule] += count
    return sums


def _earlier(root):
    """(revision, the rules it had, its text of the exceptions), the youngest first."""

    def git(*words):
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True).stdout

    revisions = git("log", "--format=%h", "--", PATH, RULES).split()
    if not revisions:
        return
    rules = collections.defaultdict(set)
    for line in git("grep", "-E", '"[a-z-]+": [a-z_]+[,}]', *revisions, "--", RULES).splitlines():
        rules[line.split(":")[0]].update(_NAMED.findall(line))
    for revision in revisions:
        yield revision, rules[revision], git("show", f"{revision}:{PATH}")


def settled(text, found, ran):
    """The text with what was found of each rule that ran, unless its sum would grow by that."""
    allowed = read(text)
    lines = [line for line in text.splitlines() if line.startswith("#")]
    for rule in dict.fromkeys(rule for rule, _ in allowed):
        old = {name: count for (one, name), count in allowed.items() if one == rule}
        new = {name: count for (one, name), count in sorted(found.items()) if one == rule and count}
        keeps = rule not in ran or sum(new.values()) > sum(old.values())
        lines += [f"{rule} {name} {count}" for name, count in (old if keeps else new).items()]
    return "\n".join(lines) + "\n"


def check(root, allowed, found, known, ran):
    """What is wrong with the exceptions, by what was found of the rules that ran."""
    for (rule, name), count in allowed.items():
        if rule not in known:
            yield Finding(PATH, 1, f"there is no rule {rule}")
        elif rule in ran and found[rule, name] < count:
            yield Finding(PATH, 1, f"{rule} {name}: {count} allowed, {found[rule, name]} found; "
                          "lower it (tools/tidy --settle)")
    sums = _sums(allowed)
    told = set()
    for revision, rules, text in _earlier(root) if sums else ():
        old = _sums(read(text))
        for rule in sorted((rules & set(sums)) - told):
            if sums[rule] > old[rule]:
                told.add(rule)
                yield Finding(PATH, 1, f"{rule}: the sum grew from {old[rule]} (revision "
                              f"{revision}) to {sums[rule]}; a rule's exceptions only shrink")
