"""The `pivcs` program: `python -m pivcs` and the console script."""

import gc
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # Imports make much that lives as long as the program and nothing to collect: looking for it takes 10 ms.
    gc.disable()
    from pivcs.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
