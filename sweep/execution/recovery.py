"""A lost manifest, rebuilt from the footers of the shards."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tribosweep.sweep.execution.stored import Identity, load_json
from tribosweep.sweep.io.toml import parse_toml

RUN = b"tribosweep_run"  # key of a footer: what it says of its run, as JSON


def rebuild_manifest(points: Path) -> dict[str, Any]:
    """The manifest of a run by the footers of the shards in `points`, without results; empty if no footer can be read.

    If the shards belong to several studies, it is that of the most shards, or of the largest study that differs from it in [sweep] alone:
    an extension.
    """
    shards = sorted(points.glob("part-*.parquet"))
    found = Counter(text for path in shards if (text := read_identity(path)))
    if not found:
        return {}
    studies = {text: json.loads(text) for text in found}
    physics = {text: {**parse_toml(study["config"]), "sweep": None} for text, study in studies.items()}
    ((most, _),) = found.most_common(1)
    chain = [text for text in found if physics[text] == physics[most]]
    last = max(chain, key=lambda text: int(studies[text]["points"]))
    begun = datetime.fromtimestamp(min(path.stat().st_mtime for path in shards), UTC)
    return {
        **studies[last],
        "extends": {studies[text]["config_hash"]: studies[text]["points"] for text in chain if text != last},
        "created": begun.isoformat(timespec="seconds"),
        "provenance": {},
    }


def read_identity(path: Path) -> str | None:
    """What the footer of a shard says of its run; None if it is damaged, or says nothing that this package writes."""
    from tribosweep.sweep.io import sealed_parquet

    try:
        metadata = sealed_parquet.read_metadata(path).metadata or {}
    except (OSError, sealed_parquet.DamageError):
        return None
    try:
        text = str(metadata[RUN].decode())
        load_json(text, Identity)
    except (KeyError, ValueError):
        return None
    return text
