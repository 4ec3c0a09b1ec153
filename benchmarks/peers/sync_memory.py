"""Run `pivcs sync FILE` in this process and print its own peak memory and that of its largest child, in bytes.

The child shares pages with its parent, so the sum is more than both take together, never less.
"""

import contextlib
import re
import resource
import sys
from pathlib import Path

from pivcs.cli import run


def own_peak() -> int:
    """Return the most memory this process has had, without what its parent had when it was started."""
    with contextlib.suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
        if found is not None:
            return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


_UNIT = 1 if sys.platform == "darwin" else 1024


def main() -> None:
    code = run(["sync", "--quiet", sys.argv[1]])
    print(own_peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _UNIT)
    sys.exit(code)


if __name__ == "__main__":
    main()
