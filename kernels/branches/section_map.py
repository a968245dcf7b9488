"""The Poincare map of many oscillators, and its derivatives, as numpy arrays."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tribosweep.kernels.batch import compile as programs
from tribosweep.kernels.batch import program_key
from tribosweep.kernels.batch.program_key import IMAGE, ProgramKey
from tribosweep.kernels.models import Model
from tribosweep.kernels.models.arguments import DIRECTION, LOOKS, PERIODS, POINT, RATES
from tribosweep.kernels.models.contacts import PENALISED
from tribosweep.kernels.models.outputs import Asked
from tribosweep.kernels.models.schemes import EXACT, RUN, STEADY
from tribosweep.kernels.models.status import Status
from tribosweep.kernels.runtime import jax_setup

_BLOCKS = 16  # most blocks of lanes of a program on one device: more rows are several calls
_STEP = 1e-6  # relative step of the differences by which resolved parameters follow the given ones


@dataclass(frozen=True, slots=True)
class Images:
    """Images of points of sections, one entry for each point.

    Attributes:
        y: (N, n) [m/s]: velocity, displacement times omega, and with penalised friction stretch of the sticking contact times omega.
        direction: (N,) of slip; 0 where the contact sticks or there is none.
        by_point: (N, n, n). by_parameters: (N, n, d).
        observables: name -> (N,), of the periods between point and image; statistics are NaN where they were not asked for.
        good: whether the run ended well.
    """

    y: np.ndarray
    direction: np.ndarray
    by_point: np.ndarray
    by_parameters: np.ndarray
    observables: dict[str, np.ndarray]
    good: np.ndarray

    def take(self, which: np.ndarray) -> Images:
        """Those of some places."""
        y, direction, by_point, by_parameters, good = (
            each[which] for each in (self.y, self.direction, self.by_point, self.by_parameters, self.good)
        )
        return Images(y, direction, by_point, by_parameters, {name: values[which] for name, values in self.observables.items()}, good)


def joined(parts: Sequence[Images]) -> Images:
    """The images of several groups of points."""
    observables = {name: np.concatenate([part.observables[name] for part in parts]) for name in parts[0].observables}

    def together(name: str) -> np.ndarray:
        return np.concatenate([getattr(part, name) for part in parts])

    return Images(
        together("y"), together("direction"), together("by_point"), together("by_parameters"), observables, together("good")
    )  # fmt: skip


class SectionMap:
    """The map from a point of a section t = (n + shift) 2 pi / omega to the point some periods later, for rows of one kind of contacts.

    Attributes:
        model: the model. names: the parameters by which derivatives are taken. dimension: n, number of coordinates of a point.
        count: number of rows. key: the program.
    """

    def __init__(
        self,
        model: Model,
        columns: Mapping[str, np.ndarray | float],
        names: Sequence[str],
        ends: Sequence[tuple[float, float]],
        rows: int = 1,
    ) -> None:
        """Prepare the map.

        Args:
            model: a model with steady windows. columns: parameter name -> value of all rows, or (rows,) (SI units).
            names: parameters by which derivatives are taken. ends: least and largest value of each. rows: number of rows, where all
                columns are numbers.

        Raises:
            ValueError: rows whose contacts differ in kind (such as rigid and penalised friction).
        """
        self.model, self.names = model, tuple(names)
        self._columns = {name: value for name, value in columns.items() if name not in names}
        sizes = [np.shape(value)[0] for name, value in columns.items() if np.ndim(value) > (name in model.tables)]
        self.count = max([rows, *sizes])
        corners = [self._resolved(np.array(place)) for place in itertools.product(*ends)]
        keys: set[ProgramKey] = set()
        for corner in corners:
            corner["end"] = 2.0 * np.pi / corner["omega"]
            keys |= set(program_key.groups(model, EXACT, STEADY, corner, np.arange(self.count), Asked(statistics=True)))
        kinds = {(key.friction, key.walls, key.features) for key in keys}
        if len(kinds) > 1:
            raise ValueError(f"rows of {len(kinds)} kinds of contacts: {', '.join(sorted(map(str, keys)))}")
        key = next(iter(keys))
        silent = {*key.unread(model), *model.tables, *RUN, "x0", "v0", "phase"}

        def moves(name: str) -> bool:
            return name not in silent and any(np.any(corner[name] != corners[0][name]) for corner in corners)

        along = tuple(name for name in corners[0] if moves(name))
        self.key = replace(key, engine=IMAGE, free=False, stiff=any(each.stiff for each in keys), along=along)
        self.dimension = 3 if key.friction == PENALISED else 2

    def _resolved(self, values: np.ndarray, which: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """All parameters of some rows (N,), with `values` (N, d) of `names`; or of all rows, with the same `values` (d,)."""

        def chosen(name: str, value: Any) -> Any:
            return np.asarray(value)[which] if which is not None and np.ndim(value) > (name in self.model.tables) else value

        given = {name: chosen(name, value) for name, value in self._columns.items()} | dict(zip(self.names, values.T, strict=True))
        return {name: np.asarray(value, dtype=float) for name, value in self.model.resolve(given).items()}

    def __call__(
        self,
        which: np.ndarray,
        values: np.ndarray,
        y: np.ndarray,
        direction: np.ndarray,
        periods: np.ndarray,
        shift: np.ndarray,
        statistics: np.ndarray | None = None,
    ) -> Images:
        """The images of N points.

        Args:
            which: (N,) number of the row of each. values: (N, d) values of `names`. y: (N, n) [m/s]. direction: (N,) of slip.
            periods: (N,) of the excitation between point and image, any number > 0. shift: (N,) of the section, in periods.
            statistics: (N,) whether they are asked for; they take three times as long as the rest. None for nowhere.
        """
        import jax

        devices, width = len(jax.devices()), jax_setup.lanes(self.key.loop)
        # always as many blocks, so that there is one program; never a single one, see `batch.solve`
        per_device = min(1 << max(1, -(-2 * self.count // (width * devices)) - 1).bit_length(), _BLOCKS)
        most = devices * per_device * width
        asked = np.zeros(len(which)) if statistics is None else statistics.astype(float)
        order = np.lexsort((periods, asked))  # lanes of a block wait for the slowest of them
        points = (which, values, y, direction, periods, shift, asked)
        parts = [order[start : start + most] for start in range(0, len(which), most)]
        found = [self._some((devices, per_device, width), tuple(each[part] for each in points)) for part in parts]
        return joined(found).take(np.argsort(order))

    def _some(self, blocks: tuple[int, int, int], points: tuple[np.ndarray, ...]) -> Images:
        """The images of no more points than the program has room for.

        Args:
            blocks: devices of the program, blocks of each, and lanes of a block. points: the arguments of `__call__`.
        """
        import jax

        which, values, y, direction, periods, shift, statistics = points
        count, along, tables = len(which), self.key.along, self.model.tables
        directions = len(self.names)
        step = np.eye(directions)[:, None] * (_STEP * np.maximum(np.abs(values), 1e-3))  # (d, N, d)
        places = np.concatenate([values[None], values - step, values + step])
        every = self._resolved(places.reshape(-1, directions), np.tile(which, len(places)))  # all at once: most of it is overhead
        wide = {name: value.ndim > (name in tables) for name, value in every.items()}
        resolved = {name: value[:count] if wide[name] else value for name, value in every.items()}
        rates = np.zeros((count, directions, len(along)))
        for j, name in enumerate(along):
            if wide[name]:
                _, low, high = np.split(every[name].reshape(len(places), count), [1, 1 + directions])
                rates[:, :, j] = ((high - low) / (2.0 * np.diagonal(step, axis1=0, axis2=2).T)).T
        unread = self.key.unread(self.model)
        lanes = {name: value for name, value in resolved.items() if value.ndim > (name in tables) or name in along}
        lanes |= {"x0": y[:, 1] / resolved["omega"], "v0": y[:, 0], "phase": resolved["phase"] + 2.0 * np.pi * shift}
        lanes |= {POINT: y, DIRECTION: direction, PERIODS: periods, RATES: rates, LOOKS: statistics}
        lanes = {name: np.broadcast_to(value, (count, *value.shape[1:])) for name, value in lanes.items() if name not in unread}
        devices, per_device, width = blocks
        deal = np.arange(devices * per_device * width).reshape(per_device, devices, width).swapaxes(0, 1).reshape(-1, width)
        dealt = np.minimum(deal, count - 1)
        shares = np.count_nonzero(deal.reshape(devices, -1) < count, axis=1).astype(np.int32)
        arguments = {name: value for name, value in resolved.items() if name not in unread and name not in lanes}
        arguments |= {name: value[dealt] for name, value in lanes.items()}
        shapes = {name: (value.shape, value.dtype) for name, value in arguments.items()}
        program, _ = programs.compiled(self.key, devices, shapes, tuple(sorted(lanes)))
        with programs.DEVICES:
            found, codes = jax.block_until_ready(program(arguments, shares))
        place = np.empty(count, dtype=int)
        real = deal.ravel() < count
        place[deal.ravel()[real]] = np.flatnonzero(real)

        def rows(array: object) -> np.ndarray:
            whole = np.asarray(array)
            return whole.reshape(-1, *whole.shape[2:])[place]

        results = {name: rows(value) for name, value in found.items()}
        image, by_point, by_parameters, facing = (results.pop(name) for name in ("image", "by_point", "by_parameters", "image_direction"))
        finite = np.isfinite(image).all(axis=1) & np.isfinite(by_point).all(axis=(1, 2)) & np.isfinite(by_parameters).all(axis=(1, 2))
        return Images(image, facing, by_point, by_parameters, results, (rows(codes) == int(Status.OK)) & finite)

    def omega(self, which: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The angular frequency of the excitation of points (N,) [rad/s]. Arguments: see `__call__`."""
        return np.broadcast_to(self._resolved(values, which)["omega"], len(which))

    def clearance(self, which: np.ndarray, values: np.ndarray, y: np.ndarray) -> np.ndarray:
        """How far points (N, n) are from the nearest wall, in times omega [m/s]; without a wall the speed. Arguments: see `__call__`."""
        resolved = self._resolved(values, which)
        if not self.key.walls:
            return np.asarray(np.abs(y[:, 0]))
        left = resolved["left_gap"] if "left_gap" in resolved else np.where(resolved["sides"] > 1.0, resolved["gap"], np.inf)
        x = y[:, 1]
        return np.asarray(np.minimum(resolved["gap"] * resolved["omega"] - x, left * resolved["omega"] + x))
