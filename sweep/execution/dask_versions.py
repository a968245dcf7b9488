"""The software of the workers of a Dask scheduler, which must be that of this process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

ANSWER_OF_WORKER = 30.0  # s: time limit for an answer from a worker, which may be busy

# A worker may have another Python, or no tribosweep: neither bytecode nor a function of this package can be sent, but source can.
# Only the import of tribosweep is tried; importing JAX would take a second, in which the worker does not answer its scheduler.
SOURCE = """
def versions():
    import importlib.metadata, os, socket, sys
    found = {"host": socket.gethostname(), "Python": "%d.%d" % sys.version_info[:2]}
    try:
        from tribosweep.sweep.io.version import SCHEMA_VERSION, VERSION
        found["tribosweep"], found["schema of runs"] = VERSION, str(SCHEMA_VERSION)
    except ImportError:
        found["tribosweep"] = "missing"
    except Exception as error:
        found["tribosweep"] = "broken (%s)" % error
    for package in ("jax", "jaxlib", "numpy"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "missing"
    found["TRIBOSWEEP_NATIVE"] = "off" if os.environ.get("TRIBOSWEEP_NATIVE", "").strip() in ("", "0") else "on"
    return found
"""
QUESTION = f"(lambda space: (exec({SOURCE!r}, space), space['versions']())[1])({{}})"

Answer = dict[str, str] | str  # software -> version, and the host; or a sentence on why there is no answer


def own_versions() -> dict[str, str]:
    """The software of this process that decides whether rows are the same: name -> version."""
    return versions_in(eval(QUESTION))  # noqa: S307 - the text above


def versions_in(answer: Mapping[str, str]) -> dict[str, str]:
    """The versions in an answer."""
    return {name: version for name, version in answer.items() if name != "host"}


def ask_workers(client: Any, addresses: Iterable[str]) -> dict[str, Answer]:
    """Ask workers side by side for their software; a worker that does not answer delays no other one."""
    import asyncio

    async def ask(address: str) -> Answer:
        try:
            answers = await asyncio.wait_for(client.run(eval, QUESTION, workers=[address], on_error="return"), ANSWER_OF_WORKER)
        except TimeoutError:
            return f"it has not answered for {ANSWER_OF_WORKER:g} s"
        except Exception as error:
            return f"it cannot be asked ({type(error).__name__}: {error})"
        answer = answers.get(address, "it has gone away")
        return answer if isinstance(answer, dict | str) else f"it cannot be asked ({type(answer).__name__}: {answer})"

    async def ask_all() -> dict[str, Answer]:
        listed = list(addresses)
        return dict(zip(listed, await asyncio.gather(*map(ask, listed)), strict=True))

    found: dict[str, Answer] = client.sync(ask_all)
    return found


def sort_out(answers: Mapping[str, Answer], own: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The addresses of the workers with the versions of this process, and a sentence on each of the others."""
    good, refused = list[str](), list[str]()
    for address, answer in answers.items():
        why = answer if isinstance(answer, str) else differences(versions_in(answer), own)
        on = "" if isinstance(answer, str) else f" on {answer.get('host')}"
        if why:
            refused.append(f"worker {address}{on} gets no work: {why}")
        else:
            good.append(address)
    return good, refused


def differences(theirs: Mapping[str, str], own: Mapping[str, str]) -> str:
    """What differs: "jax 0.9 there, 0.10.1 here"; empty if nothing does."""
    if theirs["tribosweep"] == "missing":
        own = {name: version for name, version in own.items() if name in theirs}
    return "; ".join(
        f"{name} {theirs.get(name, 'missing')} there, {version} here" for name, version in own.items() if theirs.get(name) != version
    )
