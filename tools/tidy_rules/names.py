"""What only one file knows has a name of its own in its room, or folder of tests: many are compiled
at a time.

Of formats, those of one folder, with the file that it is named for; each may have what each has.
"""

import re

from .tree import Finding

ALONE = "tests/machine"  # cmake/tests.cmake
_BEGIN = re.compile(r"^namespace \{$")
_END = re.compile(r"^\}  // namespace$")
_VALUE = re.compile(r"^(?:static |inline )?(?:constexpr|const)\b[^(=]*?\b(k[A-Z]\w*)"
                    r"(?:\[\w*\])?(?: =| ?\{|;)")
_TYPE = re.compile(r"^(?:struct|class|union|enum class|enum) (\w+)\b[^;]*$|^using (\w+) =")
_FUNCTION = re.compile(r"^[A-Za-z_][\w:<>,&*\s\[\]]*?[\s&*](\w+)\(([^;]*?)\)(?: const)? \{",
                       re.DOTALL)


def _parameters(text):
    """Types alone: `const std::string& path, int n = 1` is `const std::string&,int`."""
    words = []
    for one in text.split(","):
        one = " ".join(one.split("=")[0].split())
        words.append(re.sub(r"(?<=[\w&*>]) ?\w+$", "", one) if " " in one or "&" in one else one)
    return ",".join(words)


def _own(code):
    """(line, name that has to be different, what it may mean elsewhere) of unnamed namespaces."""
    inside = False
    lines = code.split("\n")
    for number, line in enumerate(lines, 1):
        if _BEGIN.match(line):
            inside = True
        elif _END.match(line):
            inside = False
        if not inside or not line or line[0] in " /#}":
            continue
        if match := _VALUE.match(line):
            yield number, match.group(1), None
        elif match := _TYPE.match(line):
            yield number, match.group(1) or match.group(2), line if match.group(2) else None
        elif match := _FUNCTION.match("\n".join(lines[number - 1:number + 4])):
            yield number, f"{match.group(1)}({_parameters(match.group(2))})", None


def _together(path):
    """Whom it is compiled with: cmake/rooms.cmake, compile_together."""
    folder = "/".join(path.split("/")[:2])
    if folder.endswith("/formats"):
        return folder + "/" + path.split("/")[2].split(".")[0]
    return path if folder == ALONE else folder


def own_names(tree):
    """No two files that are compiled together have the same name for their own."""
    seen = {}
    for path in tree.under("src/", ".cc") + tree.under("tests/", "_test.cc"):
        if path.endswith("/main.cc"):
            continue
        for line, name, same in _own(tree.text(path)):
            first, meant = seen.setdefault((_together(path), name), (path, same))
            if first != path and (same is None or same != meant):
                yield Finding(path, line, f"{name} is a name in {first}, too")


RULES = {"own-names": own_names}
