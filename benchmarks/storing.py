"""Storing sessions beside pi and git: `python -m benchmarks.storing 100M 1000M`.

    python -m benchmarks.storing [--rounds N] [--only first,append] [--turns N] [--without-pi] SIZES...

Each part runs its competitors in alternating rounds of one run and prints a Markdown table; `benchmarks/README.md` says
what they are. Trust the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.generate import size_of
from benchmarks.measure import machine
from benchmarks.store_parts.append import append
from benchmarks.store_parts.bench import Bench, interop_or_none
from benchmarks.store_parts.first import first, size
from benchmarks.store_parts.log import log
from benchmarks.store_parts.noop import noop
from benchmarks.store_parts.turns import turns

BY_SIZE: dict[str, Callable[[Bench, Sequence[str]], None]] = {
    "first": first,
    "size": size,
    "log": log,
    "append": append,
    "noop": noop,
}
PARTS = (*BY_SIZE, "turns")


def parts_of(text: str) -> list[str]:
    """Read a list like `first,append`. Raises ValueError for an unknown part."""
    names = text.split(",")
    if unknown := sorted(set(names) - set(PARTS)):
        raise ValueError(f"no part '{unknown[0]}'; there are {', '.join(PARTS)}")
    return names


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.storing", description="Storing beside pi and git.")
    parser.add_argument("sizes", nargs="*", default=["1M", "10M", "100M"], help="like 10M or 1G (default: 1M 10M 100M)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds whose median counts (default: 5)")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {','.join(PARTS)} (default: all)")
    parser.add_argument("--turns", type=int, default=200, help="turns of the part `turns` (default: 200)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without-pi", action="store_true")
    chosen = parser.parse_args(arguments)
    try:
        parts = parts_of(chosen.only)
        for text in chosen.sizes:
            size_of(text)  # a mistake is told before minutes are spent
        interop = interop_or_none(wanted=not chosen.without_pi)
    except (ValueError, FileNotFoundError) as error:
        parser.error(str(error))
    print(f"{machine()}; medians of {chosen.rounds} or more alternating rounds, page cache warm.")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(interop, Path(scratch), chosen.rounds, chosen.seed)
        for name in PARTS:
            if name == "turns" and name in parts:
                turns(bench, chosen.turns)
            elif name in parts:
                BY_SIZE[name](bench, chosen.sizes)


if __name__ == "__main__":
    main()
