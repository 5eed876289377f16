"""The parts of a live test: all of them, or those that its command line names.

Not a test itself (not executable).
"""

import sys


def chosen(parts, *of):
    """Those to run, each told as its turn comes, after the words `of`."""
    for part in parts:
        if not sys.argv[1:] or part.__name__ in sys.argv[1:]:
            print(*of, part.__name__, flush=True)
            yield part
