"""Observables of a run: sums over stretches of time, defined once for both engines."""
