"""Samples of the posterior of calibrated parameters: the problem, samplers, diagnostics and files of draws."""
