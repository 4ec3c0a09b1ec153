"""The `pivcs` program: `python -m pivcs` and the console script."""

import gc
import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # Imports make much that lives as long as the program and nothing to collect: looking for it takes 10 ms.
    gc.disable()
    try:
        from pivcs.cli import run

        sys.exit(run())
    except KeyboardInterrupt:  # while modules are imported
        sys.exit(130)


if __name__ == "__main__":
    main()
