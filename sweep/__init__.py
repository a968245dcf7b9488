"""Everything around the physics: studies from TOML to Parquet, and the command line."""

__version__ = "0.1.0"

from sweep.config import Config, load
from sweep.problems import ConfigError, Problem
from sweep.running import Run, run

__all__ = ["Config", "ConfigError", "Problem", "Run", "__version__", "load", "run"]
