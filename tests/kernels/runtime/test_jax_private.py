"""Private names of JAX: each exists in the installed JAX, has a purpose, and is used in one module only."""

from __future__ import annotations

import pkgutil
import re
import threading
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from tribosweep.kernels.runtime import jax_private, program_cache

ROOT = Path(__file__).parents[3]
PRIVATE = re.compile(r"\bjax(lib)?\._[a-z]|\bjaxlib\.(?!version\b)|jax\.interpreters|serialize_executable|stages\.Compiled\(|/jax/")
OF_ONE_VERSION = {
    "jax._src.layout.AutoLayoutSingleton",
    "jaxlib._hlo.OpSharding",
    "jaxlib._jax.OpSharding",
}  # of several that are supported


@pytest.mark.parametrize("name", jax_private.USES)
def test_the_installed_jax_has_it_and_its_purpose_is_a_sentence(name: str) -> None:
    assert pkgutil.resolve_name(name) is not jax_private  # it raises nothing
    assert name not in jax_private.missing()
    assert re.match(r"(tells|is|reads|makes) ", jax_private.USES[name])
    module, attribute = name.split(":")
    source = (ROOT / "kernels" / "runtime" / "jax_private.py").read_text()
    assert source.count(attribute) > 1, "nothing uses it"
    assert module.rpartition(".")[2] in source


def test_what_a_new_jax_has_lost_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    from jax._src import compilation_cache, xla_bridge

    assert jax_private.missing() == []
    monkeypatch.delattr(xla_bridge, "backends_are_initialized")
    monkeypatch.delattr(compilation_cache, "_cache")
    assert jax_private.missing() == ["jax._src.xla_bridge:backends_are_initialized", "jax._src.compilation_cache:_cache"]
    assert jax_private.started()  # nobody knows: options are left as they are
    assert not jax_private.keep_programs_in(None)
    assert not hasattr(compilation_cache, "_cache")


def test_no_other_module_uses_one() -> None:
    found = [
        str(path.relative_to(ROOT))
        for folder in ("kernels", "sweep", "tribosweep", "benchmarks", "docs")
        for path in (ROOT / folder).rglob("*.py")
        if PRIVATE.search(path.read_text())
    ]
    assert found == ["kernels/runtime/jax_private.py"]


def test_records_are_classes_of_values_and_functions_that_build_them() -> None:
    for module, names in jax_private.RECORDS.items():
        for name in names:
            try:
                record: Any = pkgutil.resolve_name(f"{module}:{name}")
            except (ImportError, AttributeError):
                assert f"{module}.{name}" in OF_ONE_VERSION, "no supported JAX has it"
                continue
            assert (
                isinstance(record, type)
                or name in {"_reconstruct", "default_registry", "tracing_registry"}
                or name.startswith("_unpickle_")
            )
            assert module.partition(".")[0] in {"jax", "jaxlib", "numpy"}


def test_a_program_can_be_loaded_again_by_this_jax() -> None:
    assert program_cache.cannot_load() == ""


def test_a_record_that_is_not_listed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = {module: names for module, names in jax_private.RECORDS.items() if module != "jax._src.layout"}
    monkeypatch.setattr(jax_private, "RECORDS", fewer)
    assert re.fullmatch(r"UnpicklingError: jax\._src\.layout\.\w+ is not listed as a part of programs", program_cache.cannot_load())


def test_the_event_is_that_of_a_program_from_the_cache_of_jax(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[str, bytes] = {}

    class Files:
        def get(self, name: str) -> bytes | None:
            return kept.get(name)

        def put(self, name: str, data: bytes) -> None:
            kept[name] = data

    from jax._src import compilation_cache

    for name in ("_cache", "_cache_initialized", "_cache_checked", "_cache_used"):
        monkeypatch.setattr(compilation_cache, name, getattr(compilation_cache, name))
    monkeypatch.setattr(compilation_cache, "_cache_checked", False)
    before = {name: getattr(jax.config, name) for name in ("jax_persistent_cache_min_compile_time_secs", "jax_compilation_cache_dir")}
    try:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_compilation_cache_dir", str(tmp_path))
        assert jax_private.keep_programs_in(Files())
        told = [jax_private.hits()]
        for _ in range(2):
            program = jax.jit(lambda x: 3.0 * x + 0.125).lower(np.ones(7)).compile()
            told.append(jax_private.hits())
        assert np.array_equal(program(np.ones(7)), np.full(7, 3.125))
    finally:
        for name, value in before.items():
            jax.config.update(name, value)
    assert (len(kept), [number - told[0] for number in told]) == (1, [0, 0, 1])
    assert not list(tmp_path.iterdir())
    others: list[int] = []
    thread = threading.Thread(target=lambda: others.append(jax_private.hits()))
    thread.start()
    thread.join()
    assert others == [0]  # each thread counts its own
