"""Reading a study from TOML into a checked Config."""
