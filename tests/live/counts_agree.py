#!/usr/bin/env python3
# skips
# timeout: 200
"""What a server counts of threads that hit as fast as they can is what they have counted, and the
frames that a circular buffer keeps are the last ones, each thread's without a gap."""

import pathlib
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from sustained import counts, newest_first, stop, traced  # noqa: E402
from trace_common import check, need_fast_tracepoints, same  # noqa: E402

SECONDS = 2


def agree(threads, megabytes, circular):
    what = f"{threads} threads, {megabytes} MiB, {'circular' if circular else 'linear'}"
    with traced(threads, megabytes, circular) as (program, client):
        time.sleep(SECONDS)
        # The threads end while the program runs on, so that none of them is inside of a hit.
        calls = [one[0] for one in program.results()]
        took = stop(client)
        client.ask("QTStop")
        hits, numbers = counts(client, program)
        print(f"{what}: {sum(calls) / SECONDS / 1e6:.1f} million hits a second, "
              f"{numbers['tframes']} frames kept, stopped after {1000 * took:.0f} ms", flush=True)
        if not circular and hits < sum(calls):
            # The hit that finds no room is counted as well.
            same(numbers["tframes"], hits - 1, f"{what}: all up to a full buffer")
            check(numbers["tfree"] < 200, f"{what}: it is full")
            return
        same(hits, sum(calls), f"{what}: hits")
        same(numbers["tcreated"], hits, f"{what}: frames created")
        newest_first(client, program, numbers["tframes"], calls, what)


def main():
    need_fast_tracepoints()
    agree(1, 5, True)
    agree(2, 5, True)
    agree(2, 100, True)
    agree(5, 20, True)
    agree(2, 20, False)


main()
