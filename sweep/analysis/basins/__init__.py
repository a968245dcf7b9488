"""Basins of attraction: which steady motion each start of a run leads to."""
