"""`python -m sweep.cli`: the same as the command `tribosweep`."""

from sweep.cli import console

console()
