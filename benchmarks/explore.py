"""How fast `tribosweep explore` shows a run and answers brushes, measured in headless Chromium.

    python benchmarks/explore.py DIRECTORY 1e6 1e7 1e8

For each number of rows a run over three parameters is computed below DIRECTORY, unless it is there already (10^8 rows: some minutes, 5 GB).
The first view is the time from the start of the command to the moment when every view of the page shows its rows. A brush is moved over
each histogram in turn, from side to side; its answer is there when all other views show theirs. The pointer enters the histogram first, as
it would, and what that prepares is the warm-up, which is measured too.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from tribosweep.sweep import run

MOVES = 12  # of each brush
READY = "return board.data && board.views.every((view) => view.counts || view.cells) && document.body.dataset.rows !== undefined"
# waits until `count` views have shown something since `before`
ANSWERED = """
const shown = () => Number(document.body.dataset.views);
const answered = (before, count) => new Promise((resolve) => {
  const look = () => (shown() - before >= count ? requestAnimationFrame(() => resolve(performance.now())) : setTimeout(look, 1));
  look();
});
const others = board.data.clients.length - 1;
"""
WARM_UP = """
const view = board.views.find(({ key }) => key === name), begun = performance.now();
board.data.expect(view);
await board.data.coordinator.query("SELECT 1 AS ready", { cache: false });
return performance.now() - begun;
"""
MOVE = """
const view = board.views.find(({ key }) => key === name), size = view.bins.count, wide = Math.max(1, Math.floor(size / 4));
const found = [];
for (let move = 0; move < moves; move++) {
  const first = Math.round(((size - wide - 1) * move) / (moves - 1)), before = shown(), begun = performance.now();
  view.set([[first, first + wide]]);
  found.push((await answered(before, others)) - begun);
}
const before = shown();
view.clear();
board.filtered(view);
await answered(before, others);
return found;
"""


def study(count: int) -> dict[str, Any]:
    """A study of about `count` rows: regimes over amplitude, friction and frequency."""
    each = round(count ** (1.0 / 3.0))
    axes = {"a0": {"from": 0.5, "to": 20.0}, "mu": {"from": 0.01, "to": 1.01}, "omega": {"from": 5.0, "to": 10.0}}
    return {
        "study": {"name": f"explore_{each**3}", "scheme": "exact"},
        "parameters": {"m": 1.0, "g": 10.0, "k": 0.0},
        "time": {"end": 12.0, "window": [4.0, 12.0]},
        "output": {"shard_points": 2**20},
        "sweep": {"axes": {name: {**ends, "count": each} for name, ends in axes.items()}},
    }


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """A headless browser."""
    options = Options()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1440,1000"):
        options.add_argument(argument)
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_script_timeout(300)
    try:
        yield driver
    finally:
        driver.quit()


def asked(driver: webdriver.Chrome, script: str, **given: object) -> Any:
    """What a script returns that may await, with names for what it is given."""
    names = "".join(f"const {name} = arguments[{place}];" for place, name in enumerate(given))
    waiting = (
        f"{names} const done = arguments[arguments.length - 1]; (async () => {{ {script} }})().then(done, (error) => done(String(error)))"
    )
    return driver.execute_async_script(waiting, *given.values())


def until(true: Callable[[], object], within: float = 300.0) -> None:
    """Wait until something is true."""
    end = time.monotonic() + within
    while not true():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.01)


def brushes(driver: webdriver.Chrome) -> tuple[list[float], list[float]]:
    """The warm-ups and the answers of all brushes [ms]."""
    names = asked(driver, "return board.views.filter((view) => view.frame && view.columns.length === 1).map(({ key }) => key)")
    warm, answers = [], []
    for name in names:
        warm.append(asked(driver, WARM_UP, name=name))
        answers += asked(driver, ANSWERED + MOVE, name=name, moves=MOVES)
    return warm, answers


def tell(what: str, warm: list[float], answers: list[float]) -> None:
    """Print the times of brushes."""
    print(
        f"  {what}: warm-up of a brush {max(warm):.0f} ms at most; {len(answers)} moves: median {statistics.median(answers):.0f} ms, ",
        end="",
    )
    print(f"95 % below {statistics.quantiles(answers, n=20)[-1]:.0f} ms, worst {max(answers):.0f} ms", flush=True)


def measure(directory: Path, driver: webdriver.Chrome) -> None:
    """Measure one run."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "tribosweep.sweep.cli", "explore", str(directory)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        try:
            address = server.stdout.readline().strip()
            there = time.perf_counter()
            assert address, server.stderr.read()
            driver.get(address)
            until(lambda: driver.execute_script(READY))
            print(
                f"  first view after {time.perf_counter() - begun:.2f} s, of which {time.perf_counter() - there:.2f} s in the browser",
                flush=True,
            )
            sampled = driver.execute_script("return facts.every > 1")
            tell("brushes over the sample" if sampled else "brushes over all rows", *brushes(driver))
            if sampled:
                begun = time.perf_counter()
                driver.execute_script("board.choose(true)")
                until(lambda: driver.execute_script("return board.data.counted.startsWith('cube')") and driver.execute_script(READY))
                print(f"  all rows are counted after {time.perf_counter() - begun:.1f} s", flush=True)
                tell("brushes over all rows", *brushes(driver))
        finally:
            server.terminate()


def main(folder: Path, counts: list[int]) -> None:
    """Measure runs of several sizes."""
    for count in counts:
        directory = folder / f"rows_{count:.0e}".replace("+0", "")
        rows = sum(run(study(count), directory).statuses.values())
        print(f"{rows:,} rows", flush=True)
        with chromium() as driver:
            measure(directory, driver)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [round(float(word)) for word in sys.argv[2:]])
