"""Branches of periodic motions of the points of a study."""
