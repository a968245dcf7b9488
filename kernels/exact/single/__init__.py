"""Rigid friction in float32: an event loop and a lean segment of their own, in units of the oscillator."""
