"""Packing of columns of numbers as text in an HTML file; `data.js` unpacks them.

Numbers of neighbouring rows are close. The bits of float32 grow with the number, so their differences are small, most high bytes are 0,
and deflate compresses them well. For large runs the last bits of the mantissa are dropped.
"""

from __future__ import annotations

import base64
import zlib

import numpy as np

LEVEL = 6
FINE, COARSE = 0, 9  # dropped bits of float32: 23 or 14 bits of the mantissa remain, relative error 6e-8 or 3e-5
DIGITS = {FINE: 7, COARSE: 4}  # significant digits that can be shown
_NAN = 0x7FC00000


def pack_floats(values: np.ndarray, dropped: int = FINE) -> str:
    """Pack (n,) float64 as float32 less its `dropped` last bits, rounded."""
    with np.errstate(over="ignore"):
        bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    bits = np.where(np.isnan(values), np.uint32(_NAN), bits)
    if dropped:
        finite = (bits & np.uint32(0x7F800000)) != np.uint32(0x7F800000)
        bits = np.where(finite, bits + np.uint32(1 << (dropped - 1)), bits) >> np.uint32(dropped)
    return _pack_differences(bits, 4 if dropped == FINE else 3)


def pack_integers(values: np.ndarray) -> str:
    """Pack (n,) integers of int32."""
    return _pack_differences(values.astype(np.int32).view(np.uint32), 4)


def pack_codes(values: np.ndarray) -> str:
    """Pack (n,) int8."""
    return _to_text(values.astype(np.int8).tobytes())


def _pack_differences(numbers: np.ndarray, width: int) -> str:
    """Pack differences of uint32, small ones of either sign as small numbers: all lowest bytes, then all second ones, up to `width`."""
    differences = np.diff(numbers, prepend=np.uint32(0)).view(np.int32)
    unsigned = ((differences << 1) ^ (differences >> 31)).view(np.uint32)
    return _to_text(b"".join(((unsigned >> np.uint32(8 * place)) & np.uint32(0xFF)).astype(np.uint8).tobytes() for place in range(width)))


def _to_text(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, LEVEL)).decode("ascii")
