"""A run as linked views in the browser: live over DuckDB, or as one file."""
