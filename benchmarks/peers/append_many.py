"""Append a line and sync, again and again, several files in turn: `append_many COUNT FILE STORE [FILE STORE]...`.

Prints the seconds of each sync as JSON, for each file a list of those below the last line, and one of those that begin
a branch: every tenth line does. The store stays open, as in a program that watches.
"""

import json
import sys
import time
from pathlib import Path

from benchmarks.growing import Growing
from pivcs.ops.sync import sync_file
from pivcs.store.store import Store

BRANCH_EVERY, BACK = 10, 8


def main() -> None:
    count, *names = sys.argv[1:]
    pairs = [(Path(file), Store.open(Path(store))) for file, store in zip(names[::2], names[1::2], strict=True)]
    growing = [Growing(file, seed=2) for file, _ in pairs]
    seconds: list[tuple[list[float], list[float]]] = [([], []) for _ in pairs]
    for number in range(int(count) + 1):
        branches = number % BRANCH_EVERY == BRANCH_EVERY - 1
        for (file, store), grower, taken in zip(pairs, growing, seconds, strict=True):
            grower.append(back=BACK if branches else 0)
            begin = time.perf_counter()
            synced = sync_file(store, file, number)
            if number:  # the first one only warms caches
                taken[branches].append(time.perf_counter() - begin)
            assert synced.outcome == "appended", synced.outcome
            assert synced.rows == 1, synced.rows
    for _, store in pairs:
        store.close()
    print(json.dumps(seconds))


if __name__ == "__main__":
    main()
