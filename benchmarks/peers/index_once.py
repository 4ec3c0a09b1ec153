"""Index a session file once, as every reading command does, and print the seconds that it took in process."""

import sys
import time
from pathlib import Path

from pivcs.objects.index import index_source
from pivcs.session.source import FileSource


def main() -> None:
    begin = time.perf_counter()
    with FileSource(Path(sys.argv[1])) as source:
        table, _ = index_source(source)
    seconds = time.perf_counter() - begin
    print(seconds, sum(1 for _ in table.nodes()))


if __name__ == "__main__":
    main()
