"""The chance of an event over an intensity, as a lognormal curve."""
