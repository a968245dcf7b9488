"""The command line `tribosweep`."""

from sweep.cli.process import console, main

__all__ = ["console", "main"]
