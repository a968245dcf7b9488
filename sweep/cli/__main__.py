"""`python -m tribosweep.sweep.cli`: the same as the command `tribosweep`."""

from tribosweep.sweep.cli import console

console()
