"""The command line `tribosweep`."""

from sweep.cli.main import console, main

__all__ = ["console", "main"]
