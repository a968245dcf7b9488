"""Calibration: parameters from measurements, by the exact derivatives of the engine, and how well they are known."""
