"""The guard around parsers of other libraries that are given data from somebody else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class UnreadableError(ValueError):
    """Data that a parser refuses; the message is one line without the name of the file."""


@contextmanager
def guarded(what: str = "") -> Iterator[None]:
    """Let whatever a parser raises be an UnreadableError, because no library lists all that it raises for data that are not its own.

    Nothing but the call of the parser belongs inside: an error of this program would be hidden. OSError passes, as it says what is wrong.

    Args:
        what: the beginning of the message, such as "is no Parquet file"; empty: none.

    Raises:
        UnreadableError: of any other Exception, RecursionError and MemoryError among them.
    """
    try:
        yield
    except (OSError, UnreadableError):
        raise
    except Exception as error:
        raise UnreadableError(": ".join(filter(None, (what, words_of(error))))) from error


def guarded_items(items: Iterable[T], what: str = "") -> Iterator[T]:
    """The items of an iterator of a library; errors as of `guarded`."""
    iterator = iter(items)
    while True:
        with guarded(what):
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item


def words_of(error: Exception) -> str:
    """What an exception says, on one line."""
    if isinstance(error, UnicodeEncodeError):
        return "its path is no UTF-8 text: rename the file or its folder"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, MemoryError):
        return "needs more memory than there is"
    text = " ".join(str(error).split()).partition(" for integer string")[0]
    return text or type(error).__name__
