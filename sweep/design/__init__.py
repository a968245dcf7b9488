"""Designs: the points of a study, any block of them computed from its index range."""
