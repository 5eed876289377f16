"""Results that are dropped on purpose are named: best_effort(...) of base/result.h, for a Status or
a Result. What else a call returns and nobody wants is cast to void; that is counted, by room.
"""

import re

from .cpp import CannotRead
from .tree import Finding

# Not what leaves a parameter unused, `(void)name;`, nor a list without parameters, `f(void)`.
_DROPPED = re.compile(r"(?:(?<![\w)])\(void\)|\bstatic_cast<void>\()\s*(?!\w+\s*[;,)])(?=[\w!:*(])")


def dropped_results(tree):
    for path in tree.under("src/", ".h", ".cc", ".c"):
        try:
            code = tree.code(path).blanked
        except CannotRead:
            continue  # function-length says so
        room = "/".join(path.split("/")[:2])
        for match in _DROPPED.finditer(code):
            yield Finding(path, code.count("\n", 0, match.start()) + 1, "drops what a call "
                          "returns: return it, act on it, or say best_effort(...) (base/result.h)",
                          room)


RULES = {"dropped-results": dropped_results}
