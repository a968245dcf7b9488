"""Designs whose points follow from the results of earlier levels."""
