"""Who prints: cli/, and renderers. What a room below has in its headers are values."""

import re

from .cpp import CannotRead
from .tree import Finding

# Headers with such a type, and why. A header that includes one of them has the type as well.
ALLOWED = {
    "src/formats/json/tree.h": "the tree of a JSON text, for the .cc files that read one",
    "src/formats/json/jsonl_value.h": "getters of that tree, for the same",
}
# The room whose answer is JSON and text.
_RENDERERS = "src/render/"
_PRINTING = re.compile(r"\b(std::(?:basic_)?o(?:string)?stream|std::c(?:out|err)|FILE(?=\s*\*)"
                       r"|fmt::print|nlohmann|stdout|stderr)\b")
_HEADERS = ["nlohmann/", "iostream", "ostream", "iosfwd", "fmt/ostream.h",
            *(path.removeprefix("src/") for path in ALLOWED)]
_INCLUDED = re.compile(rf'^\s*#\s*include\s*["<]((?:{"|".join(_HEADERS)})[^">]*)[">]',
                       re.MULTILINE)


def printing_headers(tree):
    for path in tree.under("src/", ".h"):
        if path.startswith(("src/cli/", _RENDERERS)) or path in ALLOWED:
            continue
        try:
            texts = (_PRINTING, tree.code(path).blanked), (_INCLUDED, tree.text(path))
        except CannotRead:
            continue  # function-length says so
        for pattern, text in texts:
            for match in pattern.finditer(text):
                yield Finding(path, text.count("\n", 0, match.start()) + 1, f"{match.group(1)} in "
                              "a header below cli/: give values, and let who asks print them")


RULES = {"printing-headers": printing_headers}
