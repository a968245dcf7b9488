"""The versions of tribosweep and of the layout of its runs."""

VERSION = "0.1.0"
SCHEMA_VERSION = 3
