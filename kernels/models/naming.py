"""Which of several names a wrong one means: by its spelling, and by the words of their descriptions. Nothing here imports JAX."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

Known = Mapping[str, Any] | Iterable[str]
LONGEST = 200  # characters of a word that is compared
MOST_PAIRS = 2_000_000  # of their characters with those of all names: a comparison takes up to 0.15 us for each pair
SURE, LIKELY, UNLIKELY = 0.79, 0.6, 0.5  # similarity of spelling; the last one where nothing else tells
NEAR = 2  # words by which others may come later in their descriptions than the best name
MOST = 3  # names that are suggested
SHORTEST = 3  # letters of a word of which a description may have a longer form: mas, mass; freq, frequency

WITH_UNIT = re.compile(r"(?<=\S)(\s++\[|\s*+\()[^\[\]()]*+[\])]$")  # the end of "a0 [g]" or "a0 (g)"; x[centre] is a name

# what a quantity is called elsewhere: where its description has no such word, or others have it too
SYNONYMS = {
    "frequency": "omega",
    "freq": "omega",
    "stiffness": "k",
    "damping": "c",
    "amplitude": "a0",
    "mu_k": "mu_d",
    "fn": "normal_force",
    "f_n": "normal_force",
    "weight": "normal_force",
    "preload": "normal_force",
    "pressure": "normal_force",
    "cof": "mu",
    "stick": "mu_s",
    "slide": "mu_d",
    "sliding": "mu_d",
    "kinetic": "mu_d",
    "spring": "k",
    "eigenfrequency": "k",
    "omega_n": "k",
    "resonance": "k",
    "xi": "c",
    "damper": "c",
    "dashpot": "c",
    "clearance": "gap",
    "distance": "gap",
    "pulsation": "omega",
    "period": "omega",
    "hz": "omega",
    "speed": "v0",
    "position": "x0",
    "dt": "step",
    "timestep": "step",
    "duration": "end",
    "t_end": "end",
    "tmax": "end",
}


def near_names(word: str, known: Known) -> list[str]:
    """The names that `word` may mean, the likeliest first; at most MOST, and one if only its spelling tells.

    Args:
        word: the wrong name.
        known: the right names; those of a mapping have a description as value, or a value with one, as a `Quantity`.
    """
    meanings = descriptions(known)
    if len(word) > LONGEST:
        return []
    text = WITH_UNIT.sub("", word.strip().lower())
    lowered = {name.lower(): name for name in reversed(list(meanings))}
    cutoff = LIKELY if any(meanings.values()) else UNLIKELY
    near = nearest_spelling(text, reversed(lowered), cutoff)
    spelled = [lowered[near]] if near else []
    alike = similarity(text, spelled[0]) if spelled else 0.0
    if text in SYNONYMS and alike < 1.0 and any(meanings.values()):
        first = [name for name in (SYNONYMS[text],) if name in meanings]
        return list(dict.fromkeys([*first, *described(text, meanings)]))[:MOST]
    by_words = described(text, meanings, whole=alike >= SURE)
    return by_words[:MOST] or spelled


def nearest_spelling(word: str, known: Iterable[str], cutoff: float) -> str:
    """The known name that is spelled most like `word`, empty if none has at least the similarity `cutoff` (0 to 1).

    Names come from files too, in any number and length. Comparing ends after MOST_PAIRS pairs of characters, and leaves out what is longer
    than LONGEST.
    """
    names, letters = list[str](), MOST_PAIRS // max(1, len(word))
    for name in known if len(word) <= LONGEST else ():
        letters -= min(len(name), LONGEST) + 1
        if letters < 0:
            break
        if len(name) <= LONGEST:
            names.append(name)
    return next(iter(difflib.get_close_matches(word, names, n=1, cutoff=cutoff)), "")


def descriptions(known: Known) -> dict[str, str]:
    """Name -> description, empty where there is none."""
    if not isinstance(known, Mapping):
        return dict.fromkeys(known, "")
    return {name: value if isinstance(value, str) else str(getattr(value, "description", "")) for name, value in known.items()}


def similarity(first: str, second: str) -> float:
    """How alike two words are spelled, from 0 to 1."""
    return difflib.SequenceMatcher(None, first, second.lower()).ratio()


def described(text: str, meanings: Mapping[str, str], whole: bool = False) -> list[str]:
    """The names whose descriptions have most of the words of `text`, those first in which they come first, then the short ones.

    Args:
        text: words, such as "wall_stiffness". meanings: name -> description.
        whole: only names that have all of several words.
    """
    asked = [part for part in re.split(r"[^a-z]+", text) if len(part) > 2]
    found = []
    for order, (name, meaning) in enumerate(meanings.items()):
        words = re.findall(r"[a-z]+", meaning.lower())
        places = [place for part in asked for place, each in enumerate(words) if is_form(part, each)]
        hits = sum(any(is_form(part, each) for each in words) for part in asked)
        if hits:
            found.append((-hits, min(places), len(words), order, name))
    most, first, *_ = min(found, default=(0, 0))
    if whole and not -most == len(asked) > 1:
        return []
    return [name for hits, place, _, _, name in sorted(found) if hits == most and place <= first + NEAR]


def is_form(part: str, word: str) -> bool:
    """Whether a word is the asked one or a longer form of it."""
    return word == part or (len(part) >= SHORTEST and word.startswith(part))


def suggestion(word: str, known: Known) -> str:
    """A question with the names that `word` may mean, such as "did you mean 'm' (mass)? "; empty if there are none."""
    meanings = descriptions(known)
    near = [f"{name!r}{f' ({short(meanings[name])})' if meanings[name] else ''}" for name in near_names(word, known)]
    listed = f"{', '.join(near[:-1])} or {near[-1]}" if len(near) > 1 else "".join(near)
    return f"did you mean {listed}? " if near else ""


def short(meaning: str, limit: int = 48) -> str:
    """The beginning of a description, up to a comma, colon or semicolon."""
    text = re.split(r"[,;:](?![^\[\]]*\])| \(| = ", meaning, maxsplit=1)[0].strip()
    return text if len(text) <= limit else f"{text[: text.rindex(' ', 0, limit)]} ..."
