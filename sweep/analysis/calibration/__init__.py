"""Calibration of parameters from measurements: residuals, fits and uncertainties."""
