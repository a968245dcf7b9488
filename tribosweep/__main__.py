"""`python -m tribosweep`: the command line."""

from tribosweep.sweep.cli import console

console()
