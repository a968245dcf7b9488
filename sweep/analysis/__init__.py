"""Analyses that turn the dataset of a run into numbers."""
