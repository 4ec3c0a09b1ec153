"""The parts of `benchmarks.storing`; each prints its own Markdown table."""
