"""`--shard i/n`: the shards that one of n independent jobs computes, without a scheduler."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from tribosweep.sweep.io.errors import ConfigError, Problem


@dataclass(frozen=True, slots=True)
class Share:
    """Every n-th shard of a run, so that all shares take about equally long even if the cost varies along the design.

    Attributes:
        index: number of the share, from 1 to `of`.
        of: number of shares.
    """

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read "i/n"; ConfigError if the text is no share."""
        found = re.fullmatch(r"\s*(\d{1,9})\s*/\s*(\d{1,9})\s*", text)
        if not found:
            raise ConfigError("--shard", [Problem("", f"{text!r} must be i/n, such as 1/4: the first of four jobs")])
        index, of = int(found[1]), int(found[2])
        if not 1 <= index <= of:
            ends = f"1/{of} to {of}/{of}" if of else "1/1 or more"
            raise ConfigError("--shard", [Problem("", f"{text!r} is no part of the run: the parts of {of} are {ends}")])
        return cls(index, of)

    def __contains__(self, number: int) -> bool:
        """Whether shard `number` is in this share."""
        return number % self.of == self.index - 1

    def __str__(self) -> str:
        """The share in the format of the command line."""
        return f"{self.index}/{self.of}"
