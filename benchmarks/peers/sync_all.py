"""Sync every session below an agent directory, again and again, in process: `sync_all ROUNDS AGENT_DIR STORE`.

Prints the seconds of each round as JSON. Each opens and closes the store, as the command does; all imports are done.
"""

import json
import os
import sys
import time
from pathlib import Path

from pivcs.ops.locate import all_files
from pivcs.ops.sync import Synced, note_absent, sync_files
from pivcs.session.layout import Surroundings
from pivcs.store.store import Store


def main() -> None:
    rounds, agent, store_path = sys.argv[1:]
    around = Surroundings({"PI_CODING_AGENT_DIR": agent}, agent, os.getcwd())
    seconds = []
    for _ in range(int(rounds) + 1):
        begin = time.perf_counter()
        with Store.open(Path(store_path)) as store:
            results = list(sync_files(store, all_files(around), 0))
            lost = note_absent(store, 0)
        seconds.append(time.perf_counter() - begin)
        assert not lost
        assert all(isinstance(result, Synced) and result.outcome == "unchanged" for result in results)
    print(json.dumps(seconds[1:]))


if __name__ == "__main__":
    main()
