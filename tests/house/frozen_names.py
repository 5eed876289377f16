#!/usr/bin/env python3
"""No name that machines read is lost: tests/house/frozen_names.txt against tree and program.

With TRACEWELL_RENEW=1, new names are added to the list first. What is gone stays in it, and fails:
tools/gen_frozen_names --renew --forget 'KIND NAME' takes it out.
"""
# timeout: 240

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import unittest

from trees import ROOT, SmallTree

sys.dont_write_bytecode = True
TOOL = ROOT / "tools/gen_frozen_names"
loader = importlib.machinery.SourceFileLoader("gen_frozen_names", str(TOOL))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(tool)

CODE = {
    "src/model/problem.h": "void tell(int at, std::string code, std::string text);\n",
    "src/formats/a.cc": '''// tell(1, "in-a-comment", text)
void f() {
  tell(1, short_ ? "frame-cut" : "block-cut", text);
  problems.add({at, Severity::Damage, "no-end", "a text " "in two parts"});
  problems.add({at, severity, code_of(error), text});
  ::secure_getenv("TRACEWELL_LOG");
}
Json g() {
  constexpr Row kRows[] = {{"no_key", 1}};
  Json out = {{"step", 1}, {"tid", 2}};
  out["pc"] = fmt::format("{{\\"addr\\":{}}}", 3);
}
''',
    "src/formats/facts.cc": "std::vector<std::pair<std::string, std::string>> facts() const {\n"
                            '  return {{"rings", text()}};\n}\n',
    "src/formats/formats.def": "FORMAT(tfile)\n",
    "src/formats/b.cc": 'catalog.extras.emplace_back("tfile.line", line);\n'
                        'constexpr std::string_view kExtensions[] = {"tf", "tfile"};\n'
                        'constexpr std::string_view kMagic = "TRAC";\n',
    "include/tracewell/a.h": "#ifndef A_H\n#define A_H\n#define TRCHK(x) x\nvoid trcgen(int x);\n",
    "Makefile": "PREFIX ?= /usr\ntest: ## all\n\t@run $(MINUTES) $(PREFIX)\n",
    "examples/run": '#!/bin/sh\nOWN=1\necho "${TRACEWELL_BIN:-bin} $OWN"\n',
    "tools/tool": "#!/usr/bin/env python3\nimport os\nos.environ.get('NO_COLOR')\n",
}
IN_CODE = {
    ("problem", "frame-cut"), ("problem", "block-cut"), ("problem", "no-end"),
    ("environment", "program TRACEWELL_LOG"), ("json-key", "step"), ("json-key", "tid"),
    ("json-key", "pc"), ("json-key", "addr"), ("fact", "rings"),
    ("format", "tfile"), ("extra", "tfile.line"), ("extension", "tf"), ("extension", "tfile"),
    ("magic", "TRAC"), ("header", "TRCHK"), ("header", "trcgen"), ("make", "PREFIX"),
    ("make", "MINUTES"), ("make", "test"), ("environment", "examples TRACEWELL_BIN"),
    ("environment", "tools NO_COLOR"),
}


class Finding(unittest.TestCase):
    def test_names_of_code(self):
        missed = []
        with SmallTree(CODE) as tree:
            self.assertEqual(tool.source.names(tree.root, missed.append), IN_CODE)
        self.assertTrue(any("code_of ( error )" in one for one in missed), missed)

    def test_places_in_json(self):
        value = {"frames": [{"kind": "step", "registers": {"rax": "0x1"}}], "lost": None}
        self.assertEqual(set(tool.program.places(value)), {
            "frames", "frames[].kind", "frames[].kind=step", "frames[].registers",
            "frames[].registers.*", "lost"})
        self.assertEqual(tool.leaf("json at frames[].registers"), "registers")
        self.assertEqual(tool.leaf("json at lost"), "lost")


class Comparing(unittest.TestCase):
    KEPT = {"option print --to", "option print --from", "problem frame-cut"}

    def test_gone_and_new(self):
        now = {"option print --from", "option print --until", "problem frame-short"}
        gone, new = tool.compare(self.KEPT, now, lambda kind, name: name == "print --to")
        self.assertEqual(gone, ["problem frame-cut"])  # --to is hidden, and taken
        self.assertEqual(new, ["option print --until", "problem frame-short"])
        gone, _ = tool.compare(self.KEPT, now, lambda kind, name: False)
        self.assertEqual(gone, ["option print --to", "problem frame-cut"])

    def test_forgetting(self):
        self.assertEqual(tool.without(self.KEPT, ["problem *", "option print --to"]),
                         {"option print --from"})
        for word in ("option print --too", "option", "*", "prob *"):
            with self.assertRaises(SystemExit):
                tool.without(self.KEPT, [word])


class Golden(unittest.TestCase):
    def run_tool(self, *words):
        done = subprocess.run([TOOL, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_list(self):
        if os.environ.get("TRACEWELL_RENEW") == "1":
            self.run_tool("--renew")
        self.run_tool("--check")

    def test_what_is_taken(self):
        source = pathlib.Path(os.environ["TRACEWELL_SOURCE"])
        binary = pathlib.Path(os.environ["TRACEWELL_BIN"]) / "tracewell"
        for kind, name, taken in (
                ("option", "print --to", True), ("option", "print --too", False),
                ("option", "trace -x", True), ("option", "trace -G", False),
                ("hidden-option", "trace -M", True), ("hidden-option", "report -Z", False),
                ("option", "serve --once", True), ("option", "serve --twice", False),
                ("option-value", "print --format csv", True),
                ("option-value", "print --format cvs", False),
                ("option-value", "print --formats csv", False),
                ("monitor", "serve set debug", True), ("monitor", "serve set debugs", False),
                ("monitor", "serve tracepoints", True), ("monitor", "serve where", False),
                ("monitor", "replay where", True), ("monitor", "replay set debug", False),
                ("command", "print", True), ("command", "printed", False),
                ("problem", "frame-cut", False)):
            with self.subTest(name=name):
                self.assertEqual(tool.program.takes(binary, source, kind, name), taken)


if __name__ == "__main__":
    unittest.main()
