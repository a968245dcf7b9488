"""The searches for the next event: root in a bracket, first crossing of a guard, first reversal of the velocity."""
