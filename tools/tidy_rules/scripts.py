"""Scripts that are tests run: cmake/tests.cmake finds those that are executable, and no others."""

import os
import stat

from .tree import Finding


def script_mode(tree):
    """What begins as a program is executable; a helper, to be read by others, is neither."""
    for path in tree.under("tests/", ".py", ".sh"):
        if path.count("/") != 2:
            continue
        is_executable = os.stat(tree.root / path).st_mode & stat.S_IXUSR
        begins = tree.text(path).startswith("#!")
        if begins and not is_executable:
            yield Finding(path, 1, "begins with #!, and is no test, since it is not executable")
        if is_executable and not begins:
            yield Finding(path, 1, "is executable, and so a test, and does not begin with #!")


RULES = {"script-mode": script_mode}
