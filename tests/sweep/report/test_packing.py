"""Packed numbers of a report, unpacked here as `data.js` does, are the numbers to half a unit of their last bit."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pytest

from tribosweep.sweep.results.packing import COARSE, FINE, pack_floats, pack_integers


def differences(text: str, width: int) -> np.ndarray:
    """The uint32 in a text of differences."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8).reshape(width, -1).astype(np.uint32)
    unsigned = sum(plane << np.uint32(8 * place) for place, plane in enumerate(planes))
    return np.cumsum((unsigned >> 1) ^ (0 - (unsigned & 1)), dtype=np.uint32)


@pytest.mark.parametrize(("dropped", "width", "bits"), [(FINE, 4, 23), (COARSE, 3, 14)])
def test_floats_are_rounded_to_the_nearest(dropped: int, width: int, bits: int) -> None:
    values = np.random.default_rng(1).normal(size=1000) * 10.0 ** np.linspace(-30.0, 30.0, 1000)
    found = (differences(pack_floats(values, dropped), width) << np.uint32(dropped)).view(np.float32).astype(float)
    assert np.abs(found / values - 1.0).max() <= 0.5 * 2.0**-bits * (1.0 + 2.0**-8)


def test_integers_are_as_they_were() -> None:
    values = np.array([0, -1, 5, 2**31 - 1, -(2**31), 7])
    assert differences(pack_integers(values), 4).view(np.int32).tolist() == values.tolist()
