"""Tasks in parallel threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Found = TypeVar("_Found")


def side_by_side(tasks: Sequence[Callable[[], _Found]]) -> list[_Found]:
    """The results of tasks, each run in its own thread: while one compiles or computes, the next one is traced."""
    if len(tasks) == 1:
        return [tasks[0]()]
    with ThreadPoolExecutor(max(1, len(tasks)), "task") as pool:
        return list(pool.map(lambda task: task(), tasks))
