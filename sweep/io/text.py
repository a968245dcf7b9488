"""Text from files, names and other people, made safe to show."""

from __future__ import annotations

import re

# control characters (C0, DEL, C1), marks that turn the direction of writing, line and paragraph separators, and halves of surrogate pairs,
# as which Python reads the bytes of file names that are no UTF-8
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSEEN_IN_LINES = re.compile(_UNSEEN.pattern.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))


def visible(text: str, lines: bool = False) -> str:
    r"""The text with every character that commands a terminal, or that hides or turns other text, written as an escape such as \x1b.

    Args:
        text: any text.
        lines: keep line feeds, because the text consists of several lines.
    """
    return (_UNSEEN_IN_LINES if lines else _UNSEEN).sub(_escape, text)


def exactly(value: float) -> str:
    """A number with as few digits as give it back: 5000, 0.1, 3.141592653589793."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def counted(count: int, one: str, many: str = "") -> str:
    """A number of things: "1 branch", "1,200 motions"; `many` is the plural where it is not that with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def visible_json(text: str) -> str:
    r"""JSON text with such characters inside its strings written as \uXXXX, which means the same to every reader."""
    return _UNSEEN_IN_LINES.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escape(found: re.Match[str]) -> str:
    """One character as Python writes it in a string."""
    code = ord(found[0])
    return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(found[0]) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
