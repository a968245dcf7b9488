"""The search for the next event: roots inside a bracket, first crossing of guards, first reversal of the velocity."""
