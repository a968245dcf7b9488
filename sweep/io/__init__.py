"""Formats, units, errors and files; nothing in this folder knows what a study is."""
