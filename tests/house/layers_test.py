#!/usr/bin/env python3
"""tools/check_layers finds each kind of forbidden include."""

import unittest

from trees import SmallTree

GOOD = {
    "LAYERS": "# rooms\nbase :\nmodel : base\nax : base/freestanding\nmachine : base\n"
              "symbols : base\ncli : *\n",
    "src/base/bytes.h": "// base/freestanding: no libc\n#include <cstdint>\n",
    "src/base/text.h": "// Text.\n#include <string>\n",
    "src/model/event.h": '#include "base/text.h"\n#include "model/batch.h"\n',
    "src/model/batch.h": "\n",
    "src/ax/run.cc": '#include "base/bytes.h"\n#include "ax/table.def"\n',
    "src/ax/table.def": "\n",
    "src/cli/main.cc": '#include "model/event.h"\n',
    "src/cli/options/parse.cc": "#include <CLI/CLI.hpp>\n",
    "src/machine/decode.cc": "#include <Zydis/Zydis.h>\n",
}
BAD = [
    ({"src/base/a.h": '#include "model/event.h"\n'}, "base may not include model"),
    ({"src/model/a.cc": ' #  include "ax/run.h"\n', "src/ax/run.h": "\n"}, "may not include ax"),
    ({"src/ax/a.cc": '#include "base/text.h"\n'}, '"base/text.h" is not freestanding'),
    ({"src/base/bytes.h": '// base/freestanding\n#include "base/text.h"\n'}, "which is not"),
    ({"src/model/a.cc": '#include "batch.h"\n'}, "is no file under src/"),
    ({"src/model/a.cc": "#include <Zydis/Zydis.h>\n"}, "only machine may include Zydis"),
    ({"src/machine/a.cc": "#include <elfutils/libdw.h>\n"}, "only symbols may include"),
    ({"src/machine/a.cc": "#include <xbyak/xbyak.h>\n"}, "only axjit may include"),
    ({"src/machine/a.cc": "#include <re2/re2.h>\n"}, "only filter may include"),
    ({"src/cli/parse.cc": "#include <CLI/CLI.hpp>\n"}, "only cli/options/parse.cc may include"),
    ({"src/cli/options/parse.cc.h": "#include <CLI/App.hpp>\n"}, "only cli/options/parse.cc may"),
    ({"src/other/a.cc": "\n"}, "other is not in LAYERS"),
    ({"LAYERS": "model : base\nbase :\n"}, "base must stand above model"),
    ({"LAYERS": "base : model\nmodel : base\n"}, "model must stand above base"),
    ({"LAYERS": "base :\nmodel : model\n"}, "model must stand above model"),
    ({"src/machine/a.cc": '#include "cli/a.h"\n', "src/cli/a.h": "\n"},
     "machine includes cli/a.h: no arrow leads into cli/"),
    ({"LAYERS": GOOD["LAYERS"] + "view : cli\n"}, "view may not name cli: no arrow leads into"),
    ({"LAYERS": GOOD["LAYERS"] + "view : *\n", "src/view/a.cc": '#include "cli/a.h"\n',
      "src/cli/a.h": "\n"}, "view includes cli/a.h: no arrow"),
    ({"LAYERS": GOOD["LAYERS"] + "view : base\n", "src/cli/main.cc": '#include "view/a.h"\n',
      "src/view/a.h": "\n"}, "cli may not include view"),
    ({"LAYERS": "base\n"}, "not `room : rooms`"),
]


class Layers(unittest.TestCase):
    def test_good_tree(self):
        with SmallTree(GOOD) as tree:
            self.assertEqual(tree.run("check_layers"), (0, ""))

    def test_bad_trees(self):
        for change, said in BAD:
            with self.subTest(said=said), SmallTree({**GOOD, **change}) as tree:
                status, output = tree.run("check_layers")
                self.assertEqual(status, 1, output)
                self.assertIn(said, output)


if __name__ == "__main__":
    unittest.main()
