"""SDND106 in closed form, phase by phase, with 30 digits: two masses and a spring; one is pulled until t2, the other rubs, rigidly."""

from __future__ import annotations

from mpmath import acos, cos, findroot, mp, mpf, sin, sqrt

State = tuple[mpf, mpf, mpf, mpf]  # x1, v1, x2, v2


def motion(times: list[str], m: str = "5", k: str = "1e4", pull: str = "3e3", normal: str = "1e4", t2: str = "0.2") -> list[State]:
    """Displacements [m] and velocities [m/s] of the rubbing and of the pulled mass at times [s]; mu_s = 0.3 and mu_d = 0.2."""
    with mp.workdps(30):
        mass, stiffness, force, slide, off = mpf(m), mpf(k), mpf(pull), mpf("0.2") * mpf(normal), mpf(t2)
        w = sqrt(stiffness / mass)

        def held(t: mpf, x1: mpf, x2: mpf, v2: mpf, acting: mpf) -> State:
            rest = x1 + acting / stiffness
            return x1, mpf(0), rest + (x2 - rest) * cos(w * t) + v2 / w * sin(w * t), v2 * cos(w * t) - (x2 - rest) * w * sin(w * t)

        def slides(t: mpf, start: State, acting: mpf) -> State:  # the centre falls freely, the distance swings
            x1, v1, x2, v2 = start
            both, faster = x1 + x2 + (v1 + v2) * t + (acting - slide) / mass * t**2 / 2, v1 + v2 + (acting - slide) / mass * t
            fast, middle = sqrt(2) * w, (acting + slide) / (2 * stiffness)
            apart = middle + (x2 - x1 - middle) * cos(fast * t) + (v2 - v1) / fast * sin(fast * t)
            rate = (v2 - v1) * cos(fast * t) - (x2 - x1 - middle) * fast * sin(fast * t)
            return (both - apart) / 2, (faster - rate) / 2, (both + apart) / 2, (faster + rate) / 2

        t1 = acos(1 - mpf("0.3") * mpf(normal) / force) / w
        first = held(t1, mpf(0), mpf(0), mpf(0), force)
        second = slides(off - t1, first, force)
        lasts = findroot(lambda t: slides(t, second, mpf(0))[1], (mpf("0.11"), mpf("0.12")), solver="anderson")
        third = slides(lasts, second, mpf(0))
        t3, found = off + lasts, []
        for t in map(mpf, times):
            if t <= t1:
                found.append(held(t, mpf(0), mpf(0), mpf(0), force))
            elif t <= t3:
                found.append(slides(t - t1, first, force) if t <= off else slides(t - off, second, mpf(0)))
            else:
                found.append(held(t - t3, third[0], third[2], third[3], mpf(0)))
        return found
