"""Compares two entries of a session file once and writes the seconds that it took, without opening the file."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from pivcs.ops.comparison import compare
from pivcs.ops.revision import Target, resolve
from pivcs.ops.view import open_file

with open_file(Path(sys.argv[1])) as view:
    targets = [Target(view, resolve(view, text)) for text in sys.argv[2:]]
    begin = time.perf_counter()
    compare(targets)
    print(time.perf_counter() - begin)
