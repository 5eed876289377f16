#!/usr/bin/env python3
"""The counter of functions' lines: what is a function, where it begins, where it ends."""

import sys
import textwrap
import unittest

from trees import ROOT

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
from tidy_rules.cpp import CannotRead, functions  # noqa: E402

# source -> [(name, first line, lines)]
CASES = [
    ("int f() { return 1; }", [("f", 1, 1)]),
    ("int f();\nint g()\n{\n}\n", [("g", 2, 3)]),
    ("static int\nlong_name(int a,\n          int b) {\n  return a;\n}\n", [("long_name", 1, 5)]),
    ("namespace a::b {\nnamespace {\nvoid f() {\n}\n}\n}\n", [("f", 3, 2)]),
    ("class A final : public B {\n public:\n  A() : a_{1}, b_(2) {\n  }\n  int g() const noexcept"
     " override {\n    return 1;\n  }\n int a_ = 3, b_{4};\n};\n", [("A", 3, 2), ("g", 5, 3)]),
    ("struct A { int x{0}; };\nenum class E : int { a, b };\n", []),
    ("struct A* f(struct B b) {\n}\n", [("f", 1, 2)]),
    ("const int kTable[] = {\n  1,\n  2,\n};\nint f() {\n}\n", [("f", 5, 2)]),
    ("void f() {\n  auto g = [](int x) {\n    if (x) { return; }\n  };\n}\n", [("f", 1, 5)]),
    ("auto f = [](int x) {\n  return x;\n};\n", [("f", 1, 3)]),
    ("template <typename T, int N = (1 > 0)>\nauto f(T t) -> decltype(t) {\n}\n", [("f", 1, 3)]),
    ("template <class T>\nclass A {\n  void f() {}\n};\n", [("f", 3, 1)]),
    ("bool operator==(A a, A b) {\n}\nvoid A::operator()(int x) {\n}\n",
     [("operator==", 1, 2), ("operator()", 3, 2)]),
    ('extern "C" {\nvoid f() {\n}\n}\nextern "C" int g() {\n}\n', [("f", 2, 2), ("g", 5, 2)]),
    ('const char* t = R"x(\n{ " ) { )x";\nvoid f() {\n  // {\n  char c = \'{\', d = \'\\\'\';\n'
     '  s = "}\\"{"; /* { */\n  n = 1\'000\'000;\n}\n', [("f", 3, 6)]),
    ("#define X(a) \\\n  int a() { \\\n\nvoid f() {\n#if 1\n#endif\n}\n", [("f", 4, 4)]),
    ("void f(A a = {}, int b = 1) {\n}\n", [("f", 1, 2)]),
    ("[[nodiscard]] int f() requires(sizeof(int) == 4) {\n}\n", [("f", 1, 2)]),
    ("TEST(Room, does_it) {\n}\n", [("TEST", 1, 2)]),
    ("~A() noexcept(false) {\n}\n", [("~A", 1, 2)]),
]


class Functions(unittest.TestCase):
    def test_cases(self):
        for source, expected in CASES:
            with self.subTest(source=source):
                self.assertEqual([tuple(f) for f in functions(source)], expected)

    def test_braces_that_do_not_match(self):
        for source in ("void f() {", "}", "namespace a {\nvoid f() {}\n"):
            with self.subTest(source=source), self.assertRaises(CannotRead):
                functions(textwrap.dedent(source))


if __name__ == "__main__":
    unittest.main()
