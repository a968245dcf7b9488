"""Formats, units, errors and files; nothing in this folder depends on studies."""
