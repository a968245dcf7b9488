"""Memory that a part of a test takes, whatever earlier tests of the same process have taken."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROCESS = Path("/proc/self")


def resident(which: str) -> int:
    """Resident memory of this process [bytes]: VmRSS now, VmHWM at its peak."""
    lines = (PROCESS / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{which}:")) << 10


@contextmanager
def at_most(size: int) -> Iterator[None]:
    """Fail if what is done inside takes more memory at once than a size [bytes]."""
    gc.collect()
    (PROCESS / "clear_refs").write_text("5")  # the peak begins anew
    before = resident("VmRSS")
    yield
    assert resident("VmHWM") - before < size
