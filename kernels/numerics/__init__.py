"""Arithmetic that XLA vectorises, in float64 and float32, and barriers against its fusion."""
