"""How `tribosweep --help` is laid out: commands by task, and examples of each."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

from typer.core import TyperGroup

from tribosweep.sweep import registry
from tribosweep.sweep.cli.terminal import say
from tribosweep.sweep.results.analysis import ASK, BEGIN, HERE, LOOK, PARTS, RUN

LONGEST = 200  # characters of the sentence about a command

# command -> the task that it belongs to, and examples
OWN: dict[str, tuple[str, tuple[str, ...]]] = {
    "init": (BEGIN, ("init", "init --like regime_map", "init my_tube.toml --like tube_in_supports")),
    "list": (BEGIN, ("list", "list studies", "list parameters --model stop", "list combinations --scheme exact", "list wear", "list time")),
    "schema": (BEGIN, ("schema --out study.schema.json",)),
    "run": (RUN, (
        "run sdnd104",
        "run my_study.toml --dry-run",
        "run my_study.toml --set parameters.mu=0.2 --out runs/mu_0.2",
        "run my_study.toml --extend",
        "run my_study.toml --executor dask --workers 8",
    )),
    "resume": (RUN, ("resume runs/my_study",)),
    "check": (RUN, ("check runs/my_study", "check runs/my_study --repair")),
    "show": (LOOK, (
        "show regime_map", "show runs/my_study", "show runs/my_study --failed", "show runs/quake --over record --out means.csv",
    )),
    "map": (LOOK, (
        "map runs/regime_map",
        "map runs/my_study --x a0 --y mu --at k=1200 --color peak_force --log --out peak.png",
        "map runs/random_support --chance 'impacts>=3' --over draw",
    )),
    "report": (LOOK, ("report runs/regime_map",)),
    "explore": (LOOK, ("explore runs/regime_map", "explore runs/regime_map --out page.html")),
    "export": (LOOK, (
        "export runs/regime_map --out regime_map.csv", "export runs/my_study --out my_study.nc --column wear_power --column regime",
    )),
    "calibrate": (ASK, ("calibrate calibrate_wall --picture wall.png", "calibrate my_tests.toml --profile all",
                        "calibrate calibrate_loop --posterior nuts --pairs pairs.png")),
    "branches": (ASK, ("branches branches_stop --picture branches.png", "branches my_stop.toml --set branches.places=9")),
    "optimise": (ASK, ("optimise optimise_support --landscape limits.png", "optimise my_design.toml --set optimise.starts=32")),
    "modes": (PARTS, ("modes beam.toml", "modes beam.toml --out basis.npz")),
    "verify": (HERE, ("verify",)),
    "doctor": (HERE, ("doctor",)),
}  # fmt: skip
# the same of all commands, in the order in which they are shown: by task, then analyses in the order of their registry
ORDER = (BEGIN, RUN, LOOK, ASK, PARTS, HERE)
TASKS = OWN | {name: (analysis.task, tuple(analysis.examples)) for name, analysis in registry.analyses().items()}
TASKS = dict(sorted(TASKS.items(), key=lambda each: (*ORDER, each[1][0]).index(each[1][0])))


def help_of(name: str, documentation: str) -> str:
    """The help of a command: its documentation, then its examples, which are not wrapped."""
    lines = "\n".join(f"  tribosweep {words}" for words in TASKS[name][1])
    return f"{cleandoc(documentation)}\n\n\b\nExamples:\n{lines}"


class Commands(TyperGroup):
    """The commands, listed by task."""

    def invoke(self, ctx: Any) -> Any:
        """Carry out a command; if a signal ends one that does not say how to go on, say that it did."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("\nInterrupted.")
            raise

    def list_commands(self, _ctx: Any) -> list[str]:
        """The names of the commands in the order of TASKS."""
        return [name for name in TASKS if name in self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands of each task under its name."""
        shown = {name: command for name in self.list_commands(ctx) if not (command := self.commands[name]).hidden}
        width = max(map(len, shown), default=0)
        for task in dict.fromkeys(TASKS[name][0] for name in shown):
            with formatter.section(task):
                own = [(name.ljust(width), command) for name, command in shown.items() if TASKS[name][0] == task]
                formatter.write_dl([(name, command.get_short_help_str(LONGEST)) for name, command in own])
