"""Claims: whatever the table, verdict, terminal, page and JSON claim one thing, and it is settled."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import tallystick as ts
from tallystick.errors import TallystickError
from tallystick.report import page_of

VERBS = ("score", "compare", "judge", "bound")
BEST = re.compile(r"(\w+) is (?:the best of|the most accurate of|closest to the true grade of) ")
BETTER = re.compile(r"(\w+) is better than (\w+)")


def voters(rng, n, k):
    """Votes of k judges with their own skill, mistakes that some share, and the truth of a few."""
    truth = rng.random(n) < rng.uniform(0.2, 0.8)
    shared = rng.random(n) < rng.uniform(0.0, 0.2)
    words = np.array(["bad", "good"])
    skills = rng.uniform(0.55, 0.97, k) if rng.random() < 0.7 else np.full(k, rng.uniform(0.6, 0.9))
    table = {"id": [f"q{i}" for i in range(n)]}
    for j, skill in enumerate(skills):
        wrong = (rng.random(n) > skill) | (shared & (rng.random(n) < 0.6))
        table[f"j{j}"] = words[(truth ^ wrong).astype(int)].tolist()
    known = rng.permutation(n) < int(rng.integers(20, n + 1))
    table["gold"] = [
        str(words[int(t)]) if kept else None for t, kept in zip(truth, known, strict=True)
    ]
    return table


def answer(verb, seed):
    """Ask a verb about a random table; None where it asks or refuses."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(40, 160)), int(rng.integers(2, 5))
    table = voters(rng, n, k)
    names = [f"j{j}" for j in range(k)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if verb == "judge":
                return ts.judge(table, judges=names, truth="gold")
            if verb == "compare":
                return ts.compare(table, models=names, truth="gold", item="id")
            if verb == "bound":
                weak = voters(rng, n, 3)
                table |= {f"w{j}": weak[f"j{j}"] for j in range(2)}
                return ts.bound(table, prediction=names, weak=["w0", "w1"], truth="gold", item="id")
            parts = [voters(rng, n, 2) for _ in range(k)]
            long = {name: [] for name in ("id", "system", "j0", "j1", "gold")}
            for s, part in enumerate(parts):
                for name in ("id", "j0", "j1", "gold"):
                    long[name] += part[name]
                long["system"] += [f"s{s}"] * n
            return ts.score(long, system="system", judges=["j0", "j1"], truth="gold", item="id")
    except TallystickError:
        return None


def claimed(text):
    """Return whom a text calls the best, or the better one of two."""
    plain = text.replace("\xa0", " ")
    return {*BEST.findall(plain), *(found[0] for found in BETTER.findall(plain))}


def check(result):
    opening, text = result.opening, str(result)
    flat = " ".join(text.split())

    # The same sentence everywhere.
    assert " ".join(opening.answer.split()) in flat
    assert result.to_dict()["verdict"] == result.verdict
    assert opening.answer in result.verdict or result.doubt

    # Nothing is claimed that is not settled, and what is settled is claimed.
    claims = result.claims
    said = BEST.findall(result.verdict.replace("\xa0", " "))
    if claims is None or result.doubt:
        assert not claimed(result.verdict)
        assert result.best is None
        return
    assert said in ([], [result.best])
    for better, worse in BETTER.findall(opening.answer):
        assert (better, worse) in claims.better
    if result.best is not None:
        assert result.best in claimed(result.verdict), result.verdict
    else:
        assert not said

    # Every rate of the answer, and both ends of its interval, stand in the table below.
    table = text.partition("\n\n")[2]
    for one in re.findall(r"\d+\.\d% \[[^\]]+\]", opening.answer):
        for number in re.findall(r"\d+\.\d", one):
            assert number in table, (number, opening.answer)


@pytest.mark.parametrize("verb", VERBS)
def test_claims_agree_and_are_settled(verb):
    answered = [found for seed in range(8) if (found := answer(verb, seed)) is not None]
    assert len(answered) >= 4
    for result in answered:
        check(result)
    shown = page_of(answered[0])
    assert " ".join(answered[0].opening.answer.split()[:3]) in " ".join(shown.split())


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_claims_agree_and_are_settled_on_two_thousand_tables(verb):
    for seed in range(2000):
        if (result := answer(verb, seed)) is not None:
            check(result)
