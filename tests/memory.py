"""How much memory a process took at most."""

from __future__ import annotations

import sys
from pathlib import Path


def peak() -> int:
    """Return the most memory that this process had since it began, in bytes.

    Where the system tells, of this program alone: `getrusage` also counts what its parent had when it forked.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
