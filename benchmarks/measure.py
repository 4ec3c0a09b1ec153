"""Running competitors side by side: alternating rounds, medians, peak memory, and what the machine is."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Once:
    """One run: its time, the peak memory of its process in bytes, and what it printed. `work` is the processor time of
    the process and its children in seconds, which says more than `seconds` when others use the machine too."""

    seconds: float
    peak: int
    output: bytes
    work: float = 0.0


@dataclass(slots=True)
class Runs:
    """The measurements of one competitor."""

    seconds: list[float] = field(default_factory=list)
    peak: int = 0
    work: list[float] = field(default_factory=list)

    def add(self, once: Once) -> None:
        self.seconds.append(once.seconds)
        self.work.append(once.work)
        self.peak = max(self.peak, once.peak)

    @property
    def median(self) -> float:
        """The median of the rounds in seconds."""
        return median(self.seconds)


def run_process(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> Once:
    """Run a command to its end and measure the whole process. Raises RuntimeError when it fails.

    The kernel counts the memory of the process that starts a command into the command's peak, so the caller must be
    small: whatever needs memory is run as a process of its own.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**os.environ, **(environment or {})},
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode:
            told = errors.read().decode(errors="replace")[-2000:]
            raise RuntimeError(f"{command} failed with {process.returncode}: {told}")
        unit = 1 if sys.platform == "darwin" else 1024
        return Once(seconds, usage.ru_maxrss * unit, output.read(), usage.ru_utime + usage.ru_stime)


def alternate(competitors: Mapping[str, Callable[[], Once]], rounds: int) -> dict[str, Runs]:
    """Run all competitors in turn, `rounds` times, after a round that only warms caches; every other round backwards.

    What disturbs the machine for a while so hits all of them alike.
    """
    results = {name: Runs() for name in competitors}
    for number in range(rounds + 1):
        for name in sorted(competitors, key=list(competitors).index, reverse=number % 2 == 0):
            once = competitors[name]()
            if number:
                results[name].add(once)
    return results


def machine() -> str:
    """Describe the machine by its size alone: cores, memory, system, Python."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    system = f"{platform.system()} {platform.machine()}"
    return f"{cores} cores, {memory:.0f} GiB of memory, {system}, Python {platform.python_version()}"
