"""Excitations besides sines: records of the support and random accelerations."""
