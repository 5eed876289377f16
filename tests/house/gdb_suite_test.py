#!/usr/bin/env python3
"""The runner of GDB's testsuite: its lines, its verdicts, and that a run leaves nothing behind."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from trees import ROOT

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("gdb_suite", str(ROOT / "tools/gdb_suite"))
gdb_suite = importlib.util.module_from_spec(importlib.util.spec_from_loader("gdb_suite", loader))
loader.exec_module(gdb_suite)


def result(passes, failures, **others):
    return {**dict.fromkeys(gdb_suite.KINDS, 0), "PASS": passes, "FAIL": failures,
            "timed_out": False, "left": [], **others}


class Lines(unittest.TestCase):
    def test_patterns_and_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "d").mkdir()
            for name in ("a.exp", "b.exp", "b.c"):
                (pathlib.Path(folder) / "d" / name).touch()
            sets = gdb_suite.read_lines("# x\none d/a.exp 3 1 pie=2 # y\n\ntwo d/*.exp\n",
                                        pathlib.Path(folder))
        self.assertEqual(sets, {"one": {"d/a.exp": {"PASS": 3, "FAIL": 1, "pie": 2}},
                                "two": {"d/a.exp": None, "d/b.exp": None}})

    def test_fixed_figures(self):
        line = {"PASS": 10, "FAIL": 2, "pie": 3, "unsupported": 1, "extended": 12}
        native, extended = gdb_suite.BOARDS

        def over(ran, board=native, pie=False):
            return gdb_suite.judge(line, ran, None, board, pie)

        self.assertEqual(over(result(10, 2, UNSUPPORTED=1)), [])
        self.assertEqual(over(result(9, 2)), ["PASS 9 < 10"])
        self.assertEqual(over(result(10, 3)), ["FAIL 3 > 2"])
        self.assertEqual(over(result(7, 5), pie=True), [])
        self.assertEqual(over(result(7, 6), pie=True), ["FAIL 6 > 5"])
        self.assertEqual(over(result(10, 2, UNSUPPORTED=2)), ["UNSUPPORTED 2 > 1"])
        self.assertEqual(over(result(10, 2, UNRESOLVED=1)), ["UNRESOLVED 1 > 0"])
        self.assertEqual(over(result(11, 0), extended), ["PASS 11 < 12"])
        self.assertEqual(over(result(10, 0, timed_out=True)), ["time limit"])

    def test_against_the_peer(self):
        def over(ran, peer):
            return gdb_suite.judge(None, ran, peer, gdb_suite.BOARDS[0], False)

        self.assertEqual(over(result(1, 3), result(1, 3)), [])
        self.assertEqual(over(result(1, 4), result(1, 3)), ["FAIL 4 > 3"])
        self.assertEqual(over(result(0, 0, UNRESOLVED=1), result(1, 3)), ["UNRESOLVED 1 > 0"])
        self.assertEqual(over(result(1, 4), None), [])


class Ends(unittest.TestCase):
    def test_orphans_in_sessions_of_their_own(self):
        # A worker of its own: what it takes in is for it alone. The name says that it is none of
        # DejaGnu's watchers.
        code = ("import multiprocessing, subprocess, sys\n"
                "sys.path.insert(0, sys.argv[1])\n"
                "from gdb_suite_test import gdb_suite\n"
                "slots = multiprocessing.SimpleQueue()\n"
                "slots.put(1)\n"
                "gdb_suite.prepare_worker(slots)\n"
                "assert gdb_suite.prepare_worker.port == 2745\n"
                "subprocess.run(['sh', '-c', 'setsid tail -f /dev/null & setsid sleep 999 &'])\n"
                "while sorted(gdb_suite.descendants().values()) != ['sleep', 'tail']: pass\n"
                "print(gdb_suite.end_all(0.5), gdb_suite.descendants())\n")
        run = subprocess.run([sys.executable, "-c", code, pathlib.Path(__file__).parent],
                             capture_output=True, text=True, timeout=30)
        self.assertEqual(run.stderr, "")
        self.assertEqual(run.stdout, "['tail'] {}\n")


class Sources(unittest.TestCase):
    def test_what_apt_is_configured_with(self):
        files = {
            "/etc/os-release": 'NAME="Debian"\nVERSION_CODENAME=tree\n',
            "/etc/apt/sources.list": "# deb http://no/ tree main\n"
                                     "deb [arch=amd64 signed-by=/k] http://a/ tree main contrib\n",
            "/etc/apt/sources.list.d/b.sources":
                "Types: deb\n# a remark\nURIs: http://b/\nSuites: tree tree-updates\n"
                "Components: main\nSigned-By: /key\n\n"
                "Types: deb\nURIs: http://c/\nSuites: other\nComponents: main\n",
        }
        with mock.patch.object(pathlib.Path, "read_text", lambda path: files[str(path)]), \
                mock.patch.object(pathlib.Path, "exists", lambda path: str(path) in files), \
                mock.patch.object(pathlib.Path, "glob", lambda path, pattern: [
                    pathlib.Path(name) for name in files if pathlib.Path(name).match(pattern)
                    and pathlib.Path(name).parent == path]):
            found = gdb_suite.debian_sources()
        self.assertEqual([" ".join(entry.split()) for entry in found],
                         ["deb-src [ signed-by=/k] http://a/ tree main",
                          "deb-src [signed-by=/key] http://b/ tree main",
                          "deb-src [signed-by=/key] http://b/ tree-updates main"])


if __name__ == "__main__":
    unittest.main()
