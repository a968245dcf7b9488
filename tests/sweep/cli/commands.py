"""A process that runs commands in forks of itself, so that the packages are imported once: given a log, it reads commands from stdin.

Each line of stdin is a JSON list [folder, limit in s, words]. The answer is a JSON list: the status of the command, or null if it was
killed after the limit, and the processor time that it took [s]. What the command prints is in the files `stdout` and `stderr` of the
folder.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path


def main() -> None:
    """Import everything that commands use; nothing that starts threads runs here."""
    warnings.simplefilter("ignore")  # of forks, which are those of a process without threads
    for package in (
        "tribosweep.kernels.batch.solve",
        "matplotlib.pyplot",
        "pyarrow.parquet",
        "tribosweep.sweep.api",
        "tribosweep.sweep.report.page",
    ):
        importlib.import_module(package)
    from tribosweep.sweep.cli import console

    for line in sys.stdin:
        folder, limit, words = json.loads(line)
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            for descriptor, name in ((0, os.devnull), (1, "stdout"), (2, "stderr")):
                os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), descriptor)
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w", encoding="utf-8"), open(2, "w", encoding="utf-8")  # noqa: SIM115
            sys.argv = ["tribosweep", *words]
            console()
        print(json.dumps(wait_for(child, limit)), flush=True)


def wait_for(child: int, limit: float) -> tuple[int | None, float]:
    """The status of a process, None if it is killed after the limit, and its processor time [s]."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        number, status, used = os.wait4(child, os.WNOHANG)
        if number:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None, limit


class Commands:
    """Runs commands as processes that are forked from one that has imported the packages."""

    def __init__(self, folder: Path) -> None:
        """Start the process in a folder."""
        here = Path(__file__).parents[3]
        environment = {**os.environ, "PYTHONPATH": str(here), "MPLBACKEND": "agg"}
        environment.pop("JAX_COMPILATION_CACHE_DIR", None)  # programs are traced and compiled once, and kept as for users
        self.process = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, env=environment, text=True
        )

    def run(self, folder: Path, limit: float, *words: str) -> tuple[int | None, float, str, str]:
        """Run a command in a folder: its status (None if it had to be killed), its time [s], and what it printed.

        The time is that of the processor, or that of the clock if it is less: other work on the machine does not count.
        """
        begun = time.monotonic()
        self.process.stdin.write(json.dumps([str(folder), limit, words]) + "\n")
        self.process.stdin.flush()
        status, used = json.loads(self.process.stdout.readline())
        said = [(folder / name).read_bytes().decode("utf-8", errors="surrogateescape") for name in ("stdout", "stderr")]
        for name in ("stdout", "stderr"):
            (folder / name).unlink()
        return status, min(used, time.monotonic() - begun), *said

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


if __name__ == "__main__":
    main()
