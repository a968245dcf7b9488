"""The questions that a page may ask, as its server takes them: everything else is refused with a sentence."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MOST_AT_ONCE = 12  # questions that are worked on; a browser asks six at a time

Number = Annotated[int, Field(ge=0, lt=2**63)]


class Question(BaseModel):
    """A question without parts."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ViewQuestion(Question):
    """Which columns a view has, of which there are means, and which scales are logarithmic."""

    columns: list[str]
    means: list[str] = []
    logarithmic: dict[str, bool] = {}


class Select(Question):
    """A SELECT."""

    sql: str


class Kept(Select):
    """A SELECT whose result is kept, and its name."""

    name: str


class NumberOfView(Question):
    """A view, by its number."""

    number: Number


class NumberOfPoint(Question):
    """A row, by the number of its point."""

    point: Number


Asked = TypeVar("Asked", bound=Question)


def parsed(kind: type[Asked], body: bytes) -> Asked:
    """The question in the body of a request; ValueError with a sentence if it is another one, or none."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        faults = "; ".join(f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in wrong[:5])
        raise ValueError(f"no request that this server knows ({faults})") from None


class Waiting:
    """The questions that are worked on. If there are too many, the oldest is given up, so that new ones need not wait for it."""

    def __init__(self) -> None:
        """Begin without any."""
        self._asked: deque[threading.Event] = deque()

    @contextmanager
    def place(self) -> Iterator[threading.Event]:
        """A place for a question; what it yields is set when the question is to be given up, at the latest at the end."""
        stop = threading.Event()
        self._asked.append(stop)
        if len(self._asked) > MOST_AT_ONCE:
            self._asked.popleft().set()
        try:
            yield stop
        finally:
            stop.set()
            if stop in self._asked:
                self._asked.remove(stop)

    def give_up(self) -> None:
        """Give up all questions."""
        for stop in [*self._asked]:
            stop.set()
