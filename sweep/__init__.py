"""Everything around the physics: studies from TOML to Parquet, and the command line."""

__version__ = "0.1.0"

from sweep.config import Config, load
from sweep.problems import ConfigError, Problem, RunError
from sweep.running import Run, resume, run
from sweep.shares import Share

__all__ = ["Config", "ConfigError", "Problem", "Run", "RunError", "Share", "__version__", "load", "resume", "run"]
