"""Excitations other than sines: recorded and random accelerations of the support."""
