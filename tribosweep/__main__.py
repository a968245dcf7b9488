"""`python -m tribosweep`: the command line."""

from sweep.cli import console

console()
