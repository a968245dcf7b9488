"""Designs: the points of a study. Any block of points can be computed from its index range."""
