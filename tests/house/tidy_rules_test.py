#!/usr/bin/env python3
"""Each rule of tools/tidy finds what it is there for, and leaves good code alone."""

import subprocess
import unittest

from trees import ROOT, SmallTree

UNFINISHED = "TO" + "DO"
GOOD_PACKET = {
    "src/agent/packets.def": 'PACKET("QTDP:", QTDP, trace, "")\n',
    "src/agent/packets/QTDP.cc": "void on_QTDP(Session&) {}\n",
    "tests/agent/QTDP.rsp": "-> QTDP:1:0:E:0:0\n",
}
GOOD_FORMAT = {
    "src/formats/formats.def": "FORMAT(tfile)\n",
    "src/formats/tfile.cc": "const Format& tfile_format() {\n}\n",
    "docs/formats/tfile.md": "# tfile\n",
    "tests/formats/tfile/a/expect.txt": "x\n",
}
GOOD_CODE = {
    "src/report/codes.def": 'CODE(X, Bytes, Yes, range(0, 16), Hex, "m", "hex")\n',
    "src/report/codes/X.cc": "void X::print(Context&) {\n}\n",
    "tests/report/cases/codes.txt": "case code X: digits\n",
}


# What only looks like a call of the library's.
NO_OPENS = """// open(path) and std::ifstream
#include "base/open.h"
struct Ring {
  int open(int number);
  Status rename(int to) { return open(to); }
  FILE* link() const;
};
int Ring::open(int number) { return number == 0 ? 0 : open(number - 1); }
void f(Folder& folder, Ring* ring, Fs fs) {
  folder.rename("a", "b");
  ring->open(1);
  auto image = Image::open("mmap(x)");
  auto fd = open_found(name) + reopen(1) + fs.open (2);
  std::remove(list.begin(), list.end(), 1);
  ::ftruncate(fd, 1), ::fchmod(fd, 0600), ::fchown(fd, 1, 1);
}
"""
OPENED = {
    "src/a/a.cc": "int f() { return ::open(p, 0) + unlink(p); }\n",
    "tools/opens_files.list": "# Why\n\nsrc/a/a.cc 2 0001 a child after fork\n",
    "docs/decisions/0001-files.md": "# Files\n\nCalls outside of `src/base`: 2.\n",
}


def opens(line):
    return {"src/a/a.cc": f"int f() {{\n  {line}\n}}\n"}


def files(folder, count):
    return {f"{folder}/{number}.cc": "" for number in range(count)}


def inclusions(*rows):
    """Of `a/a.h b/b.h`, the first includes the others."""
    return {f"src/{row.split()[0]}": "".join(f'#include "{header}"\n'
                                             for header in row.split()[1:]) for row in rows}


def class_of(methods, more=""):
    return "class A {\n" + "  int f();\n" * methods + more + "};\n"


def function(lines):
    return "int f(int x) {\n" + "  x++;\n" * (lines - 2) + "}\n"


# rule -> [(good files, bad changes to them, what is said)]
CASES = {
    "line-length": [
        ({"src/a/a.cc": "x" * 100 + "\n"}, {"src/a/a.cc": "x" * 101 + "\n"}, "101 columns"),
        ({"a.md": "|" + "x" * 120 + "\n"}, {"a.md": "x" * 101 + "\n"}, "101 columns"),
        ({"src/a/a.cc": "ü" * 100 + "\n"}, {"tools/run": "#!/bin/sh\n" + "x" * 101 + "\n"}, "101"),
    ],
    "file-length": [
        ({"src/a/a.cc": "\n" * 600}, {"src/a/a.cc": "\n" * 601}, "601 lines, at most 600"),
        ({"src/a/a.h": "\n" * 200}, {"src/a/a.h": "\n" * 201}, "201 lines, at most 200"),
        ({"src/agent/packets/a.cc": "\n" * 150}, {"src/agent/packets/a.cc": "\n" * 151},
         "151 lines, at most 150"),
    ],
    "function-length": [
        ({"src/a/a.cc": function(70)}, {"src/a/a.cc": function(71)}, "f has 71 lines"),
        ({"src/a/a.cc": "int a;\n"}, {"src/a/a.cc": "int f() { {\n"}, "cannot be told apart"),
    ],
    "class-methods": [
        ({"src/a/a.h": class_of(40, " private:\n  A() = default;\n  A(const A&) = delete;\n"
                                "  friend int f();\n  std::function<int()> g = [] { return 1; };\n"
                                "  int (*h)(int);\n  int i = f();\n  using F = int();\n"
                                "  class B {\n    int f();\n  };\n")},
         {"src/a/a.h": class_of(40, " private:\n  A();\n")}, "A declares 41 member functions"),
        *(({"src/a/a.h": class_of(39, f"  {line}\n")}, {"src/a/a.h": class_of(40, f"  {line}\n")},
           "declares 41") for line in (
               "~A() noexcept(false);", "A& operator=(A&& a) noexcept;",
               "template <class T> T g();",
               "static Result<std::function<void(int)>> g();", "A() : a_(1), b_{2} {}",
               "[[nodiscard]] virtual int g(int a = f(1), int b = {}) const = 0;")),
        ({"src/a/a.h": class_of(38, "  int g(), h(int a);\n")},
         {"src/a/a.h": class_of(39, "  int g(), h(int a);\n")}, "declares 41"),
        ({"src/a/a.h": f"namespace tracewell::a {{\n{class_of(41)}}}\n",
          "tools/tidy.ratchet": "class-methods a::A 41\n"},
         {"src/a/a.h": f"namespace tracewell::a {{\n{class_of(42)}}}\n"}, "a::A declares 42"),
    ],
    "class-files": [
        ({"src/a/a.h": class_of(4), **{f"src/a/{i}.cc": "int A::f() {\n}\n" for i in range(3)},
          "src/a/b.cc": "int x = A::f();\nint B::f() {\n}\nint g() {\n  return A::f();\n}\n"},
         {"src/a/c.cc": "std::vector<int (*)()> A::f() {\n}\n"}, "A is defined in 4 files"),
        ({"src/a/a.h": "namespace tracewell {\nstruct A { struct B { int f(); }; };\n}\n",
          "tools/tidy.ratchet": "class-files A::B 4\n",
          **{f"src/a/{i}.cc": "namespace tracewell {\nint A::B::f() {\n}\n}\n" for i in range(4)}},
         {"tools/tidy.ratchet": "\n"}, "A::B is defined in 4 files, at most 3: src/a/0.cc"),
    ],
    "include-circles": [
        ({**inclusions("a/a.h b/b.h", "b/b.h b/c.h", "b/b.cc b/b.h b/c.h", "b/c.cc b/c.h")},
         {"src/b/c.cc": '#include "b/c.h"\n#include "b/b.h"\n'},
         "src/b/b:1: 2 files include each other in a circle, as b/b -> b/c -> b/b: what"),
        ({**inclusions("a/a.h a/b.h", "a/b.h a/c.def", "a/c.h"), "src/a/c.def": ""},
         inclusions("a/c.h a/a.h", "a/b.h a/c.h"), "a/a -> a/b -> a/c -> a/a"),
        ({**inclusions("a/a.h a/b.h", "a/b.h a/a.h", "a/c.h a/a.h"),
          "tools/tidy.ratchet": "include-circles src/a 2\n"},
         inclusions("a/b.h a/c.h a/a.h"), "3 files include each other"),
    ],
    "call-circles": [
        ({"src/a/a.c": "int f(void) {\n  return g();\n}\nstatic int h(void) {\n}\n",
          "src/a/b.c": "int g(void) {\n  /* f() */ return h();\n}\n"
                       "static int h(void) {\n}\n",
          "src/a/c.c": "int i(void) {\n  return f();\n}\nstatic int g(void) {\n}\n"},
         {"src/a/b.c": "int g(void) {\n  return f();\n}\n"},
         "src/a/a.c:1: 2 files call each other in a circle, as a/a.c -> a/b.c -> a/a.c"),
    ],
    "dropped-results": [
        ({"src/a/a.cc": "void f(int unused) {\n  (void)unused;\n  best_effort(g(), \"why\");\n"
                        "  static_cast<void>(unused);\n  (void)a, (void)b;\n}\n",
          "src/a/a.c": "int main(void) {\n  int (*f)(void) = h; /* (void)g() */\n}\n"},
         {"src/a/a.c": "void f(void) {\n  (void)g(1);\n}\n"}, "src/a/a.c:2: drops what a call"),
        *(({"src/a/a.cc": f"void f() {{\n  (void)g();\n  {line}\n}}\n",
            "tools/tidy.ratchet": "dropped-results src/a 2\n"},
           {"src/a/b/b.cc": f"void h() {{\n  {line}\n}}\n"}, "src/a/b/b.cc:2: drops") for line in (
               "(void)!::write(fd, a, 1);", "if (a) (void)b->c.d(1, 2);", "static_cast<void>(g());",
               "(void)std::visit([&] { return 1; }, a);", "(void)(g());", "(void)*g();")),
    ],
    "folder-files": [
        ({**files("src/a", 40), "src/a/b/c.cc": "", **files("src/agent/packets", 50),
          "docs/a.md": "", **files("docs/b", 41), "src/cli/commands.def": 'COMMAND(0, f, "a")\n',
          **files("src/cli", 40)},
         {"src/a/a.h": ""}, "src/a:1: 41 files"),
        ({**files("src/formats", 39), "src/formats/formats.def": "FORMAT(a)\n",
          "src/formats/a.cc": ""}, {"src/formats/formats.def": "FORMAT(b)\n"}, "41 files"),
        ({**files("tests/a", 41), "tools/tidy.ratchet": "folder-files tests/a 41\n"},
         {"tests/a/a.py": ""}, "tests/a:1: 42 files"),
    ],
    "command-lines": [
        ({"src/cli/commands.def": 'COMMAND(a, a, "a")\nCOMMAND(b, b, "b")\n',
          "src/cli/a.cc": "\n" * 200, "src/cli/p/b.h": "\n" * 200, "src/cli/a.md": "\n"},
         {"src/cli/p/b.h": "\n" * 201}, "401 lines for 2 commands, 201 each"),
        ({}, {"src/cli/commands.def": 'COMMAND(a, a, "a")\nHIDDEN_COMMAND(b, b, "b")\n',
              "src/cli/b.cc": "\n" * 201}, "201 each"),
    ],
    "printing-headers": [
        ({"src/cli/a.h": "void f(std::ostream& out);\n", "src/a/a.cc": "FILE* f = stdout;\n",
          "src/a/a.h": "// to std::ostream and stdout\nclass FILE;\n",
          "src/formats/json/tree.h": "using Json = nlohmann::json;\n"},
         {"src/a/a.h": "class A {\n  void f(std::ostream& out);\n};\n"},
         "src/a/a.h:2: std::ostream in a header below cli/"),
        *(({}, {"src/a/a.h": f"{line}\n"}, said) for line, said in (
            ("FILE *f();", "FILE in"), ("inline void f() { fmt::print(a); }", "fmt::print in"),
            ("void f(const nlohmann::json& a);", "nlohmann in"),
            ("#include <nlohmann/json.hpp>", "nlohmann/json.hpp in"),
            ('#include "formats/json/tree.h"', "formats/json/tree.h in"))),
    ],
    "own-header": [
        ({"src/a/a.h": "", "src/a/a.cc": "// A\n#include \"a/a.h\"\n#include <map>\n",
          "src/a/b.cc": "#include <map>\n"},
         {"src/a/a.h": "", "src/a/a.cc": "#include <map>\n#include \"a/a.h\"\n"},
         "its first include is not its own header, src/a/a.h"),
        ({"src/a/a.h": "", "src/a/a.cc": "#include \"a/a.h\"\n"},
         {"src/a/a.h": "", "src/a/a.cc": "\n"}, "not its own header"),
    ],
    "included": [
        ({"src/a/a.h": "#include <map>\n", "src/a/a.cc": "#include \"a/a.h\"\nstd::map<A, B> m;\n"},
         {"src/a/a.cc": "// std::set\nstd::map<A, B> m;\n"}, "std::map wants #include <map>"),
        ({"src/a/a.cc": "#include <fstream>\nstd::string s = \"std::set\";\n"},
         {"src/a/a.cc": "uint8_t s;\n"}, "uint8_t wants #include <cstdint>"),
        ({"tests/inferiors/a.h": "uint8_t a;\n"},
         {"src/a/a.h": "#include \"a/b.h\"\nauto s = fmt::format();\n",
          "src/a/b.h": "#include \"a/a.h\"\n"}, "fmt:: wants #include <fmt/format.h>"),
    ],
    "own-names": [
        ({"src/a/a.cc": "namespace {\nconstexpr int kA = 1;\nint f(int a) {\n}\n}  // namespace\n",
          "src/b/b.cc": "namespace {\nconstexpr int kA = 1;\n}  // namespace\n"},
         {"src/a/b.cc": "namespace {\nconstexpr long kA = 1;\n}  // namespace\n"},
         "kA is a name in src/a/a.cc, too"),
        ({"src/a/a.cc": "namespace {\nusing A = B::A;\nint f(int a) {\n}\n}  // namespace\n",
          "src/a/b.cc": "namespace {\nusing A = B::A;\nint f(long a) {\n}\n}  // namespace\n"},
         {"src/a/b.cc": "namespace {\nint f(int b) {\n}\n}  // namespace\n"}, "f(int) is a name"),
        ({"src/formats/a.cc": "namespace {\nstruct A {\n}\n}  // namespace\n",
          "src/formats/b.cc": "namespace {\nstruct A {\n}\n}  // namespace\n",
          "src/a/a.cc": "namespace {\nusing A = B;\n}  // namespace\n"},
         {"src/a/b.cc": "namespace {\nusing A = C;\n}  // namespace\n"}, "A is a name"),
        ({"src/formats/a.cc": "namespace {\nstruct A {\n}\n}  // namespace\n",
          "tests/a/a_test.cc": "namespace {\nint f(int a) {\n}\n}  // namespace\n",
          "tests/b/a_test.cc": "namespace {\nint f(int a) {\n}\n}  // namespace\n"},
         {"src/formats/a/b/c.cc": "namespace {\nstruct A {\n}\n}  // namespace\n"}, "A is a name"),
        ({"tests/a/a_test.cc": "namespace {\nint f(int a) {\n}\n}  // namespace\n"},
         {"tests/a/b_test.cc": "namespace {\nint f(int b) {\n}\n}  // namespace\n"}, "f(int)"),
    ],
    "script-mode": [
        ({"tests/live/a.py": "import os\n", "tests/formats/a/make.py": "#!/bin/sh\n"},
         {"tests/live/a.py": "#!/usr/bin/env python3\n"}, "tests/live/a.py:1: begins with #!"),
    ],
    "opens-files": [
        ({"src/base/a.cc": "int f() { return ::open(p, 0); }\n", "src/a/a.cc": NO_OPENS,
          "src/a/b.c": "int open(const char* name);\n"}, opens("return open(p, 0);"),
         "src/a/a.cc:2: open: files are opened through src/base"),
        *(({}, opens(line), said) for line, said in (
            ("int fd = ::openat(f, p, 0);", "openat:"), ("(void)mkdir(p, 0700);", "mkdir:"),
            ("if (!rename(a, b)) g();", "rename:"), ("auto* f = std::fopen(p, a);", "fopen:"),
            ("std::ifstream in(p);", "std::ifstream:"), ("auto f = &::unlink;", "unlink:"),
            ("std::filesystem::path p;", "std::filesystem:"), ("std::remove(p(1));", "remove:"),
            ("syscall(SYS_openat2, 1);", "openat2:"), ("auto* m =\n  mmap(0, 1);", "mmap:"),
            ("A a(::opendir(p));", "opendir:"), ("chown(p, 1, 1);", "chown:"))),
        # In a class that has such a member, the library's has its colons.
        ({}, {"src/a/a.h": "class A {\n  int open();\n};\n",
              "src/a/a.cc": "int A::open() {\n  return open() + ::open(p, 0);\n}\n"},
         "src/a/a.cc:2: open"),
        ({}, {"src/a/a.cc": "#include <fstream>\n"}, "a.cc:1: <fstream>"),
        (OPENED, opens("::open(p, 0), unlink(p), ::mkdir(p, 0);"), "src/a/a.cc:2: mkdir:"),
        (OPENED, opens("::open(p, 0);"), "src/a/a.cc: 2 allowed, 1 found; lower it"),
        (OPENED, {"docs/decisions/0001-files.md": None}, "there is no decision 0001"),
        (OPENED, {"src/a/b.cc": "int f() { return unlink(p); }\n", "tools/opens_files.list":
                  "src/a/a.cc 2 0001 a child after fork\nsrc/a/b.cc 1 0001 another child\n"},
         "3 calls by decision 0001, which says 2"),
        (OPENED, {"tools/opens_files.list": "src/a/a.cc 2 0001 why\n"}, "decision reason"),
        (OPENED, {"tools/opens_files.list": "src/a/a.cc 2 0001 a child after fork\n"
                  "src/a/a.cc 9 0001 a child after fork\n"}, "stands there twice"),
        (OPENED, {"src/a/a.cc": None}, "2 allowed, 0 found"),
    ],
    "white-space": [
        ({"src/a/a.cc": "int a;\n"}, {"src/a/a.cc": "int a; \n"}, "white space at the end"),
        ({"Makefile": "a:\n\tb\n"}, {"src/a/a.cc": "\tint a;\n"}, "a tab"),
        ({"src/a/a.cc": ""}, {"src/a/a.cc": "int a;"}, "no newline at the end"),
        ({"src/a/a.cc": "int a;\n"}, {"src/a/a.cc": "int a;\r\n"}, "white space at the end"),
    ],
    "unfinished": [
        ({"src/a/a.cc": "// methods\n"}, {"src/a/a.cc": f"// {UNFINISHED}: more\n"}, "unfinished"),
        ({"tools/t": "#!/bin/sh\nmktemp a.XXXXXX\n"}, {"tools/t": "#!/bin/sh\n# FIX" + "ME\n"},
         "unfinished"),
        ({"a.md": "done\n"}, {"a.md": "not implemen" + "ted\n"}, "unfinished"),
    ],
    "workplace": [
        ({"a.txt": "src/work/a, network/root\n"}, {"a.txt": "see /ro" + "ot/x\n"}, "workplace"),
        ({"a.txt": "../share/x\n"}, {"a.txt": "../sha" + "red/x\n"}, "workplace"),
    ],
    "registry-host": [
        ({"a.sh": "apt-get install gdb\n"}, {"a.sh": "curl https://pypi." + "org/x\n"}, "registry"),
    ],
    "ticket-number": [
        ({"a.md": "the issue of speed\n"}, {"a.md": "see issue " + "#12\n"}, "say what"),
    ],
    "packets": [
        (GOOD_PACKET, {"src/agent/packets/qTP.cc": "void on_qTP() {}\n"}, "not in packets.def"),
        (GOOD_PACKET, {"src/agent/packets.def": 'PACKET("QTDP:", QTDP, trace, "")\n'
                       'PACKET("qTP:", qTP, trace, "")\n'}, "there is no packets/qTP.cc"),
        (GOOD_PACKET, {"src/agent/packets/QTDP.cc": "void on_other() {}\n"}, "define on_QTDP"),
    ],
    "packet-tests": [
        (GOOD_PACKET, {"tests/agent/QTDP.rsp": "-> QTDPsrc:1\n"}, "no test in tests/agent sends"),
    ],
    "commands": [
        ({"src/cli/commands.def": 'COMMAND(info, info_command, "Show (a) trace")\n',
          "src/cli/info.cc": "Run info_command(OptionTable& table) {\n}\n",
          "src/cli/wide.cc": "int helper() { return 0; }\n"},
         {"src/cli/check.cc": "Run check_command(OptionTable&) {\n}\n"}, "not in commands.def"),
        ({}, {"src/cli/commands.def": 'COMMAND(info,\n  info_command, "Show")\n'},
         "no src/cli/info"),
    ],
    "formats": [
        (GOOD_FORMAT, {"src/formats/csv.cc": "const Format& csv_format() {\n}\n"}, "csv is not"),
        (GOOD_FORMAT, {"src/formats/tfile.cc": None}, "there is no src/formats/tfile.cc"),
        (GOOD_FORMAT, {"src/formats/b.cc": "const Format& tfile_format() {\n}\n"}, "of its own"),
        (GOOD_FORMAT, {"docs/formats/tfile.md": None}, "there is no docs/formats/tfile.md"),
        (GOOD_FORMAT, {"tests/formats/tfile/a/expect.txt": None}, "no tests/formats/tfile/"),
    ],
    "model-names-no-format": [
        ({"src/model/a.h": "// any format\n"}, {"src/model/a.h": "// as in a tfile\n"}, "tfile"),
        ({"src/formats/formats.def": "FORMAT(odd)\n", "src/model/a.h": "// oddly\n"},
         {"src/model/a.h": "// odd has it\n"}, "names a format: odd"),
    ],
    "opcodes": [
        ({"src/ax/opcodes.def": 'OPCODE(add, 0x02, "a => b")\n', "tests/ax/a.txt": "add\n"},
         {"src/ax/opcodes.def": "OPCODE(add, 0x02)\nOPCODE(sub, 0x03)\n"}, "has sub"),
        ({}, {"src/ax/opcodes.def": "OPCODE(add, 0x02)\nOPCODE(sub, 0x02)\n"}, "0x02 stands in"),
    ],
    "template-codes": [
        (GOOD_CODE, {"src/report/codes/Y.cc": "\n"}, "not in codes.def"),
        (GOOD_CODE, {"src/report/codes/X.cc": None}, "there is no src/report/codes/X.cc"),
        (GOOD_CODE, {"src/report/codes/X.cc": "int x;\n"}, "does not define X::print"),
        (GOOD_CODE, {"tests/report/cases/codes.txt": "case code XY: x\n"}, "no case `code X: …`"),
    ],
    "template-macros": [
        ({"src/report/builtins.def": 'BUILTIN(D1, Number, entry.word(1), "")\n',
          "tests/report/cases/a.txt": "case macro $D1: to $D5\n"},
         {"src/report/builtins.def": 'ACTION(STOP, "ends")\n'}, "no case `macro $STOP: …`"),
    ],
    "links": [
        ({"docs/a.md": "[b](b.md#part) [c](../src/) [d](https://example.com)\n", "docs/b.md": "\n",
          "src/x/y.cc": "\n"}, {"docs/a.md": "[b](gone.md)\n"}, "leads nowhere: gone.md"),
    ],
    "room-readme": [
        ({"src/ax/a.cc": "\n", "src/ax/README.md": "# ax: bytecode\n"},
         {"src/rsp/a.cc": "\n"}, "src/rsp/README.md:1: missing"),
        ({}, {"src/ax/README.md": "# Bytecode\n"}, "does not begin with `# ax: caption`"),
    ],
    "changelog": [
        ({"CHANGELOG.md": "# Changes\n\n## Unreleased\n"}, {"CHANGELOG.md": "# Changes\n"},
         "section"),
    ],
}


class EachRule(unittest.TestCase):
    def test_every_rule_has_a_case(self):
        listed = subprocess.run([ROOT / "tools/tidy", "--list"], capture_output=True, text=True)
        self.assertEqual(sorted(listed.stdout.split()), sorted(CASES))

    def test_good_is_left_alone_and_bad_is_found(self):
        for rule, cases in CASES.items():
            for good, bad, said in cases:
                with self.subTest(rule=rule, said=said), SmallTree(good) as tree:
                    if good:
                        self.assertEqual(tree.run("tidy", "--rule", rule), (0, ""))
                    tree.write({path: text for path, text in bad.items() if text is not None})
                    for path in (path for path, text in bad.items() if text is None):
                        (tree.root / path).unlink()
                    status, output = tree.run("tidy", "--rule", rule)
                    self.assertEqual(status, 1, output)
                    self.assertIn(said, output)
                    self.assertIn(f"[{rule}]", output)


class ScriptMode(unittest.TestCase):
    def test_a_test_is_executable_and_a_helper_is_not(self):
        with SmallTree({"tests/a/a.sh": "#!/bin/sh\n", "tests/a/b.sh": "a() { :; }\n"}) as tree:
            (tree.root / "tests/a/a.sh").chmod(0o755)
            self.assertEqual(tree.run("tidy", "--rule", "script-mode"), (0, ""))
            (tree.root / "tests/a/b.sh").chmod(0o755)
            self.assertIn("tests/a/b.sh:1: is executable",
                          tree.run("tidy", "--rule", "script-mode")[1])


class FolderFiles(unittest.TestCase):
    def test_scripts_that_are_tests_do_not_count(self):
        with SmallTree({f"tests/a/{number}.py": "" for number in range(41)}) as tree:
            self.assertIn("41 files", tree.run("tidy", "--rule", "folder-files")[1])
            (tree.root / "tests/a/1.py").chmod(0o755)
            self.assertEqual(tree.run("tidy", "--rule", "folder-files"), (0, ""))


class Ratchet(unittest.TestCase):
    BAD = {"src/a/a.cc": "int a; \nint b; \n"}

    def tidy(self, tree):
        return tree.run("tidy", "--rule", "white-space")

    def test_an_exception_covers_what_it_counts_and_no_more(self):
        with SmallTree({**self.BAD, "tools/tidy.ratchet": "white-space src/a/a.cc 2\n"}) as tree:
            self.assertEqual(self.tidy(tree), (0, ""))
            tree.write({"tools/tidy.ratchet": "white-space src/a/a.cc 1\n"})
            self.assertEqual(self.tidy(tree)[0], 1)

    def test_an_exception_that_is_not_needed_is_an_error(self):
        with SmallTree({**self.BAD, "tools/tidy.ratchet": "white-space src/a/a.cc 3\n"}) as tree:
            self.assertRegex(self.tidy(tree)[1], "3 allowed, 2 found; lower it")

    def history(self, *revisions):
        """A tree with these revisions."""
        tree = SmallTree({})
        tree.git("init", "-q")
        for files in revisions:
            tree.write(files)
            tree.git("add", ".")
            tree.git("commit", "-qm", "Change")
        return tree

    RULE = {"tools/tidy_rules/a.py": 'RULES = {\n    "white-space": white_space,\n}\n'}
    TWO = {**BAD, "tools/tidy.ratchet": "white-space src/a/a.cc 2\n"}
    ONE = {"src/a/a.cc": "int a; \n", "tools/tidy.ratchet": "white-space src/a/a.cc 1\n"}

    def test_a_rules_sum_never_grows(self):
        with self.history({**self.RULE, "tools/tidy.ratchet": "# none\n"}) as tree:
            self.assertEqual(self.tidy(tree), (0, ""))
            tree.write(self.TWO)
            self.assertIn("white-space: the sum grew from 0", self.tidy(tree)[1])
        with self.history({**self.RULE, **self.TWO}, self.ONE) as tree:
            self.assertEqual(self.tidy(tree), (0, ""))
            tree.write(self.TWO)
            self.assertIn("white-space: the sum grew from 1", self.tidy(tree)[1])

    def test_a_new_rule_brings_its_exceptions(self):
        other = {"tools/tidy_rules/b.py": 'RULES = {"links": links}\n',
                 "tools/tidy.ratchet": "links a.md 1\n"}
        with self.history(other) as tree:
            tree.write({**self.RULE, **self.TWO})
            self.assertEqual(self.tidy(tree), (0, ""))
        with self.history({**self.RULE}, other) as tree:
            tree.write(self.TWO)
            self.assertIn("white-space: the sum grew from 0", self.tidy(tree)[1])

    def test_an_exception_moves_with_what_it_is_for(self):
        with self.history({**self.RULE, **self.TWO}) as tree:
            (tree.root / "src/a/a.cc").unlink()
            tree.write({"src/b/b.cc": self.BAD["src/a/a.cc"],
                        "tools/tidy.ratchet": "white-space src/b/b.cc 2\n"})
            self.assertEqual(self.tidy(tree), (0, ""))

    def test_exceptions_are_settled_where_they_do_not_grow(self):
        with SmallTree({"src/b/b.cc": "int a; \n", "src/a/c.cc": "int a; \n",
                        "a.md": "[a](b.md)\n",
                        "tools/tidy.ratchet": "# Exceptions\nlinks a.md 3\n"
                                              "white-space src/a/a.cc 2\n"}) as tree:
            settled = tree.root / "tools/tidy.ratchet"
            self.assertEqual(tree.run("tidy", "--settle", "--rule", "white-space"), (0, ""))
            self.assertEqual(settled.read_text(), "# Exceptions\nlinks a.md 3\n"
                             "white-space src/a/c.cc 1\nwhite-space src/b/b.cc 1\n")
            tree.write({"src/b/b.cc": "int a; \nint b; \n"})
            both = "--rule", "white-space", "--rule", "links"
            status, output = tree.run("tidy", "--settle", *both)
            self.assertEqual((status, "src/b/b.cc:1" in output), (1, True))
            self.assertEqual(settled.read_text(), "# Exceptions\nlinks a.md 1\n"
                             "white-space src/a/c.cc 1\nwhite-space src/b/b.cc 1\n")

    def test_an_exception_names_a_rule(self):
        with SmallTree({"tools/tidy.ratchet": "white-spice a 1\n"}) as tree:
            self.assertIn("there is no rule white-spice", self.tidy(tree)[1])


if __name__ == "__main__":
    unittest.main()
