"""What commands say of their progress."""

from __future__ import annotations

import pytest

from sweep.cli.terminal import describe_progress


@pytest.mark.parametrize(
    ("known", "elapsed", "line"),
    [
        ([], 5.2, "5 s: computing"),
        ([(0.5, 0, 8)], 5.2, "5 s: computing"),
        ([(0.5, 4, 8), (3.0, 4, 8)], 10.4, "10 s: computing"),  # four were there before
        ([(1.0, 0, 3000), (11.0, 1000, 3000)], 15.0, "15 s: 1,000 of 3,000 points, 33 %, 100 points/s, 0:00:20 left"),
        ([(1.0, 2000, 3000), (6.0, 3000, 3000)], 7.0, "7 s: 3,000 of 3,000 points, 100 %, 200 points/s, 0:00:00 left"),
    ],
)
def test_a_line_of_progress_says_what_is_done_and_what_is_left(known: list[tuple[float, int, int]], elapsed: float, line: str) -> None:
    assert describe_progress(known, "points", elapsed) == line


def test_a_line_of_progress_says_what_is_compiled() -> None:
    programs = ["exact, no friction, stop", "euler in lockstep, penalised friction"]
    assert describe_progress([], "points", 5.2, programs) == f"5 s: compiling {'; '.join(programs)}"
