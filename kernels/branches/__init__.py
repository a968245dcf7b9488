"""Branches of periodic motions: followed in a parameter, with their stability and the points where it changes."""
