"""A study from TOML to a checked Config."""
