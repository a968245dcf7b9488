"""What the shell completes (`tribosweep --install-completion`): studies, runs, models, topics and keys."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tribosweep.kernels.models import MODELS
from tribosweep.kernels.models.schemes import SCHEMES
from tribosweep.kernels.models.structure_model import BODY, STRUCTURE
from tribosweep.sweep.io import shipped

Words = list[tuple[str, str]]  # words with their descriptions
RUNS = Path("runs")  # where `default_directory` puts a run
MANIFEST = "manifest.json"  # a directory with it holds a run


def beginning(incomplete: str, words: Iterable[tuple[str, str]]) -> Words:
    """The words that begin with what is typed."""
    return [(word, meaning) for word, meaning in words if word.startswith(incomplete)]


def paths(incomplete: str) -> list[Path]:
    """The visible files and folders whose paths begin with what is typed."""
    typed = Path(incomplete or ".")
    folder = typed if incomplete.endswith("/") or not incomplete else typed.parent
    try:
        found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []
    return [path for path in found if str(path).startswith(incomplete)]


def shipped_studies(incomplete: str) -> Words:
    """Shipped studies, with what they ask."""
    return beginning(incomplete, ((name, shipped.about(name)) for name in shipped.names()))


def studies(incomplete: str) -> Words:
    """Shipped studies, TOML files, and folders."""
    there = paths(incomplete)
    files = [(str(path), "") for path in there if path.suffix.lower() == shipped.SUFFIX]
    return [*files, *((f"{path}/", "") for path in there if path.is_dir() and path != RUNS), *shipped_studies(incomplete)]


def runs(incomplete: str) -> Words:
    """Runs in the folder or below runs/, and folders."""
    there = [path for path in paths(incomplete) if path.is_dir()]
    inside = [path for path in paths(f"{RUNS}/") if path.name.startswith(incomplete) or str(path).startswith(incomplete)]
    named = [path for path in dict.fromkeys([*there, *inside]) if (path / MANIFEST).is_file()]
    # a shell drops what does not begin with what is typed: there a run below runs/ has its name alone, which all commands take
    words = [str(path) if str(path).startswith(incomplete) else path.name for path in named]
    return [*((word, "run") for word in words), *((f"{path}/", "") for path in there if path not in named)]


def studies_and_runs(incomplete: str) -> Words:
    """Studies, and runs."""
    return list(dict(reversed([*studies(incomplete), *runs(incomplete)])).items())[::-1]


def models(incomplete: str) -> Words:
    """Models."""
    told = {**{name: model.description for name, model in MODELS.items()}, BODY: "a body with supports", STRUCTURE: "modes with supports"}
    return beginning(incomplete, told.items())


def schemes(incomplete: str) -> Words:
    """Schemes."""
    return beginning(incomplete, ((name, scheme.description) for name, scheme in SCHEMES.items()))


def topics(incomplete: str) -> Words:
    """Topics of `tribosweep list`."""
    from tribosweep.sweep.cli.topics import ABOUT

    return beginning(incomplete, ((topic.value, about) for topic, about in ABOUT.items()))


def settings(incomplete: str) -> Words:
    """Keys of a study, for --set."""
    from tribosweep.kernels.models.quantity import Quantity
    from tribosweep.sweep.study.schema import TIME_KEYS, Output, Study, Sweep, Time

    quantities: dict[str, Quantity] = {q.name: q for model in MODELS.values() for q in model.parameters if q.name not in TIME_KEYS}
    keys = {f"parameters.{name}=": q.description for name, q in quantities.items()}
    for section, shape in (("study", Study), ("time", Time), ("sweep", Sweep), ("output", Output)):
        keys |= {f"{section}.{key}=": field.description or "" for key, field in shape.model_fields.items()}
    return beginning(incomplete, keys.items())
