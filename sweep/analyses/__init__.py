"""Analyses of a run: a folder for each, and none imports another."""
