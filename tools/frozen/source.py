"""Names that the tables and the code say.

Files can move: what a name is, is known by how it is used (the argument that a parameter `code`
takes, the rows of a table of some name). By their own names are known, in any folder, the tables
(*.def), the packet qSupported, and what has jsonl in its path. A kind of which nothing is found is
an error: then the way to find them has to follow what was renamed.
"""

import re

from . import cpp

CODE = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*")
PROBLEM_WORDS_MAX = 200
KEY = re.compile(r"[a-z][a-z0-9_]*")

# What scripts, front ends and tests wait for. Nothing tells these from other texts, so they are
# listed here; each has to stand in a literal.
LINES = ["Listening on port ", "Listening on unix:", "Remote debugging from host ",
         "Remote debugging using stdio", "Process {} created; pid = {}", "Attached; pid = {}",
         "The following monitor commands are supported:", "Quit GDBserver"]
# Likewise: files beside a trace, a log and a ring.
BESIDE = [".tidx", ".notes", ".rings", ".old", ".twb", ".lock", "metadata"]


class Source:
    """The files below some folders, as words."""

    def __init__(self, root):
        self.root = root
        self.code = {}
        for folder in ("src", "include"):
            for path in sorted((root / folder).rglob("*")):
                if path.suffix in (".h", ".cc", ".c", ".hpp", ".def"):
                    self.code[path] = cpp.words(path.read_text(encoding="utf-8"))

        self._calls = {}

    def calls(self, path):
        """(name, arguments, where) of each call, declaration and definition in a file."""
        if path not in self._calls:
            self._calls[path] = list(cpp.calls(self.code[path]))
        return self._calls[path]

    def table_file(self, name):
        return [path for path in self.code if path.name == name]

    def literals(self):
        for code in self.code.values():
            for word in code:
                if word.kind == "string":
                    yield word.text


def _code_parameters(source, paths):
    """{(name of a function, how many arguments it has): which of them is a code}"""
    found = {}
    for path in paths:
        for name, arguments, _ in source.calls(path):
            for index, part in enumerate(arguments):
                types = {word.text for word in part[:-1]}
                if part and part[-1].text == "code" and types & {"string", "string_view"}:
                    found.setdefault((name, len(arguments)), set()).add(index)
    return found


def _codes_of_problems(code):
    """The third value of each Problem: {offset, severity, code, text}."""
    for at, end in code.ends.items():
        if end - at < PROBLEM_WORDS_MAX and cpp.is_mark(code, at, "{"):
            values = cpp.parts(code, at)
            if len(values) == 4 and any("everity" in word.text for word in values[1]):
                yield values[2]


def problems(source, unseen):
    """Codes of Problem (`problem`) and of Diagnostic, those of templates (`template-problem`)."""
    of_templates = {path for path, code in source.code.items()
                    if any(word.text in ("Diagnostics", "diagnostics", "diagnostics_")
                           for word in code)}
    for kind, paths in (("problem", source.code.keys() - of_templates),
                        ("template-problem", of_templates)):
        takers = _code_parameters(source, paths)
        for path in paths:
            given = [arguments[index] for name, arguments, _ in source.calls(path)
                     for index in takers.get((name, len(arguments)), ())]
            given += _codes_of_problems(source.code[path])
            for part in given:
                texts = [text for text in cpp.choices(part) if CODE.fullmatch(text)]
                if not texts and not any(word.text in ("code", "printable") for word in part):
                    unseen(f"{kind}: {' '.join(word.text for word in part)}, in {path.name}")
                for text in texts:
                    yield kind, text


def error_codes(source, unseen):
    """Stable codes of errors: those of base/result.h, and names of Errc."""
    for path, pattern in (("base/result.h", r'= "([a-z-]+)";'),
                          ("base/result.cc", r'case Errc::\w+: return "([a-z-]+)";')):
        file = source.root / "src" / path
        if not file.exists():
            continue
        codes = re.findall(pattern, file.read_text(encoding="utf-8"))
        if not codes:
            unseen(f"error-code: none in {path}")
        for code in codes:
            yield "error-code", code


_KEY_IN_TEXT = re.compile(r'\\"([a-z][a-z0-9_]*)\\":')


def _keys_of(code):
    """Keys that JSON is written and read by: `{"key", …}`, `["key"]`, `\\"key\\":` in a text, the
    first literal of a call whose parameter is a key."""
    constant = False  # a table of ours is no JSON
    for at, word in enumerate(code):
        if word.text in ("constexpr", ";", "return") and word.kind != "string":
            constant = word.text == "constexpr"
        if word.kind != "string":
            continue
        yield from _KEY_IN_TEXT.findall(word.text)
        if not KEY.fullmatch(word.text):
            continue
        if cpp.is_mark(code, at - 1, "[") and cpp.is_mark(code, at + 1, "]"):
            yield word.text
        if not constant and cpp.is_mark(code, at - 1, "{") and cpp.is_mark(code, at + 1, ",") and (
                code[at - 2].text != "kFormat"):
            yield word.text


def _takers_of_keys(source):
    """Functions whose first or second parameter is a key."""
    found = set()
    for path in source.code:
        for name, arguments, _ in source.calls(path):
            for part in arguments[:2]:
                if len(part) > 2 and part[-1].text in ("key", "name") and (
                        {"string_view", "char"} & {word.text for word in part}):
                    found.add(name)
    return found


def json_keys(source, unseen):
    """`jsonl-key`: of jsonl's files; `json-key`: of all others that hold JSON."""
    takers = _takers_of_keys(source)
    for path, code in source.code.items():
        is_jsonl = "jsonl" in str(path.relative_to(source.root))
        if not is_jsonl and not any(
                word.kind == "name" and word.text in ("Json", "ordered_json", "json")
                or word.kind == "string" and _KEY_IN_TEXT.search(word.text) for word in code):
            continue
        kind = "jsonl-key" if is_jsonl else "json-key"
        for key in _keys_of(code):
            yield kind, key
        for name, arguments, _ in source.calls(path):
            if name in takers and (is_jsonl or name in ("member", "place", "number", "add")):
                for part in arguments[:2]:
                    text = cpp.only_string(part)
                    if text and KEY.fullmatch(text):
                        yield kind, text


def tables(source, unseen):
    """What the .def tables say: packets, what the server offers, templates' macros and codes."""
    for file, macro, kinds in (("packets.def", "PACKET", {0: "packet", 3: "feature"}),
                               ("builtins.def", "BUILTIN|POINTER|ACTION", {0: "template-macro"}),
                               ("codes.def", "CODE", {0: "template-code"}),
                               ("formats.def", "FORMAT", {0: "format"})):
        for path in source.table_file(file):
            for name, arguments, _ in source.calls(path):
                if not re.fullmatch(macro, name) or arguments[0][0].text == "name":
                    continue
                for index, kind in kinds.items():
                    for text in arguments[index][0].text.split(";"):
                        if text:
                            yield kind, text
    for path, code in source.code.items():
        if "qSupported" in path.name:
            for word in code:
                for text in re.findall(r"[\w:-]+\+", word.text if word.kind == "string" else ""):
                    yield "feature", text


# (kind, command words before the name, name of the array, columns that are names)
ARRAYS = [
    ("word", "print --columns ", "kWords", (0, 1)),
    ("word", "find FILE ", "kFindKinds", (0,)),
    ("word", "--where ", "(has none)", (0,)),  # rows {"name", Field::Name}
    ("word", "ctctrl level=", "kLevels", (0,)),
    ("extra", "hooklog.", "kFacts", (0,)),
]


def arrays(source, unseen):
    """Words that commands take, and keys, where they are rows of a table."""
    for kind, before, name, columns in ARRAYS:
        found = False
        for code in source.code.values():
            if before == "--where ":
                rows = [row for one in _field_tables(code) for row in one]
            else:
                rows = [row for one in cpp.table(code, name) for row in one]
            for row in rows:
                for column in columns:
                    text = cpp.only_string(row[column]) if column < len(row) else None
                    if text:
                        found = True
                        yield kind, before + text
        if not found:
            unseen(f"{kind}: no table {name} for `{before}`")
    yield from _words_of_report(source)


def _words_of_report(source):
    """`report -O`: rows of the tables that have 2line and svc, and what `name` is compared to."""
    for code in source.code.values():
        if cpp.Word("string", "2line") not in code:
            continue
        rows = [[cpp.only_string(row[0]) for row in one if len(row) > 1]
                for one in cpp.table(code, r"\w+")]
        rows = [row for row in rows if "2line" in row or "svc" in row]
        for row in rows:
            for text in row:
                yield "word", f"report -O {text}"
        for at, word in enumerate(code):
            if rows and word.kind == "string" and at > 2 and cpp.is_mark(code, at - 1, "=") and (
                    code[at - 3].text == "name"):
                yield "word", f"report -O {word.text}"


def _field_tables(code):
    for at in code.ends if "Subhook" in code.places else ():
        if cpp.is_mark(code, at, "{") and cpp.is_mark(code, at + 1, "{"):
            rows = [cpp.parts(row, 0) for row in cpp.parts(code, at) if cpp.is_mark(row, 0, "{")]
            if rows and all(len(row) == 2 and len(row[1]) == 3 and row[1][0].text == "Field"
                            for row in rows):
                yield rows


def environment(source, unseen):
    """Variables that the program and its libraries ask for, with secure_getenv or by name."""
    for path in source.code:
        for name, arguments, _ in source.calls(path):
            text = cpp.only_string(arguments[0])
            if text and name.endswith("getenv"):
                yield "environment", f"program {text}"
    for text in source.literals():
        if re.fullmatch(r"TRACEWELL(_[A-Z]+)*", text):
            yield "environment", f"program {text}"


def extras(source, unseen):
    """Keys of Catalog::extras: a format's name, a dot, a word."""
    names = "|".join(name for kind, name in tables(source, unseen) if kind == "format")
    for text in source.literals():
        if re.fullmatch(rf"({names})\.([a-z-]+\.)?([a-z-]+|\{{\}})?", text):
            yield "extra", re.sub(r"\{\}$|(?<=\.)$", "*", text)


def files(source, unseen):
    """Extensions, and what files and shared memory begin with or are called."""
    for path, code in source.code.items():
        named = [cpp.only_string(row[0]) for one in cpp.table(code, "kExtensions") for row in one]
        for text in filter(None, named):
            yield "extension", text
        named = [(name, at) for name, places in code.places.items() for at in places
                 if at + 2 < len(code)]
        for name, at in named:
            if re.fullmatch(r"k\w*Magics?|TRACEWELL_\w+_MAGIC", name):
                value = next((one for one in code[at + 1:at + 8] if one.kind in ("string", "number")
                              and not one.text.isdigit()), None)
                between = [one.text for one in code[at + 1:at + 4]]
                if code[at - 1].text == "define" and code[at + 1].kind != "mark":
                    yield "magic", code[at + 1].text.rstrip("ulUL")
                elif "{" in between and value and value.kind == "number":
                    letters = cpp.parts(code, at + 1 + [w.text for w in code[at + 1:]].index("{"))
                    yield "magic", "".join(part[0].text.strip("'") for part in letters)
                elif value and value.kind == "string" and between[0] in ("=", "["):
                    yield "magic", value.text
            if re.fullmatch(r"TRACEWELL_\w+_(NAME|SUFFIX)", name) and (
                    code[at - 1].text == "define"):
                yield "shared-name", code[at + 1].text
        for name, arguments, _ in source.calls(path):
            text = cpp.only_string(arguments[0])
            if name == "starts_with" and text in ("TVTR", "/* CTF 1.8 */"):
                yield "magic", text


def file_names(source, unseen):
    """Files that lie beside a trace, and those of a user that commands find by themselves."""
    literals = set(source.literals())
    for name in BESIDE:
        if name in literals:
            yield "file-name", name
        else:
            unseen(f"file-name: no literal is {name!r}")
    for text in literals:
        if re.fullmatch(r"/(etc/(tracewell/|trc)|var/adm/ras/)[\w/.]+", text):
            yield "file-name", text
    for path in source.code:
        for name, arguments, _ in source.calls(path):
            text = cpp.only_string(arguments[2]) if name == "state_path" and arguments[2:] else None
            if text:
                yield "file-name", text


def lines(source, unseen):
    texts = list(source.literals())
    for line in LINES:
        if any(line in text for text in texts):
            yield "line", line.rstrip()
        else:
            unseen(f"line: no literal has {line!r}")


def facts(source, unseen):
    """Names of the facts that `info` tells of a format: of the pairs that a function facts() or
    …_facts() makes."""
    for path, code in source.code.items():
        for name, arguments, at in source.calls(path):
            body = cpp.end_of(code, at + 1)
            body += code[body:body + 1] == [("name", "const")]
            if not re.fullmatch(r"(\w+_)?facts", name) or not cpp.is_mark(code, body, "{"):
                continue
            if "pair" not in {word.text for word in code[max(0, at - 25):at]}:
                continue
            for here in range(body + 1, cpp.end_of(code, body)):
                begins = cpp.is_mark(code, here - 1, "{") or cpp.is_mark(code, here - 1, "(") and (
                    code[here - 2].text == "emplace_back")
                if code[here].kind == "string" and begins and KEY.fullmatch(code[here].text):
                    yield "fact", code[here].text


def settings(source, unseen):
    """Keys of the file that trcctl keeps: with("key", …) of for_each_setting."""
    for path, code in source.code.items():
        for name, arguments, _ in source.calls(path) if "for_each_setting" in code.places else ():
            text = cpp.only_string(arguments[0])
            if text and name == "with":
                yield "setting", f"trace.conf {text}"


def headers(source, unseen):
    """What programs compile against: macros, functions and variables of include/."""
    for path in source.code:
        if "include" != path.relative_to(source.root).parts[0]:
            continue
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for name in re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.MULTILINE):
            if not name.endswith("_H") and not name.startswith("_"):
                yield "header", name
        for name in re.findall(r"^(?!#|return|static_assert|do|  )[\w:][\w:*&<>,\s()]*?\b(\w+)\("
                               r"|^extern [\w *]+?(\w+)[;\[]", text, re.MULTILINE):
            name = "".join(name)
            if name.startswith(("trc", "utrc", "tracewell_")):
                yield "header", name


def scripts(source, unseen):
    """Variables and goals of the Makefile, and variables of scripts that users run."""
    makefile = (source.root / "Makefile").read_text()
    for goal in re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE):
        yield "make", goal
    own = re.findall(r"^(?:export )?([A-Z_]+) :?=", makefile, re.MULTILINE)
    for name in set(re.findall(r"\$\(([A-Z]+)\)", makefile)) - set(own) - {"CURDIR", "MAKE"}:
        yield "make", name
    for folder in ("examples", "tools"):
        for path in sorted((source.root / folder).rglob("*")):
            if not path.is_file() or path.suffix not in ("", ".sh", ".py") or "frozen" in str(path):
                continue
            text = path.read_text(encoding="utf-8", errors="replace")
            for name in _script_variables(text):
                yield "environment", f"{folder} {name}"


_OF_SHELL = {"SECONDS", "BASHPID", "COMP_CWORD", "COMP_WORDS", "COMPREPLY", "BASH_SOURCE", "PATH",
             "PWD"}


def _script_variables(text):
    first = text.split("\n", 1)[0]
    if "python" in first or text.startswith('"""'):
        return re.findall(r"os\.(?:environ(?:\.get\(|\[)|getenv\()[\"'](\w+)[\"']", text)
    if not first.startswith("#!") or "sh" not in first:
        return []
    set_here = set(re.findall(r"^\s*(?:local |export )?([A-Z_]+)=", text, re.MULTILINE))
    asked = set(re.findall(r"\$\{?([A-Z][A-Z_]{2,})\b", text))
    return sorted(asked - set_here - _OF_SHELL
                  | set(re.findall(r"\$\{([A-Z][A-Z_]{2,}):[-=?]", text)) - _OF_SHELL)


ALL = [problems, error_codes, json_keys, tables, arrays, environment, extras, files, file_names,
       lines, facts, settings, headers, scripts]


def names(root, unseen):
    """All (kind, name) of the source; `unseen` is told what may be one and cannot be read."""
    source = Source(root)
    return {one for find in ALL for one in find(source, unseen)}
