"""Which number should lead without labels? The rule of ``evaluate`` on simulated populations, by
one command.

    python benchmarks/truth/judge_headline.py [--write]

No real set is looked at here: the rule stands before they are (judge.py runs those).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from record import record

from tallystick import judge
from tallystick.errors import ConvergenceError
from tallystick.judge.ballots import Ballots
from tallystick.judge.dawid_skene import dawid_skene_result, fit_ballots
from tallystick.judge.estimates import BLEND, majorities
from tallystick.results import Interval
from tallystick.stats.latent import misfit
from tallystick.tally import Tally

REPETITIONS = 200
METHODS = ("dawid-skene", "majority", "majority of the others", BLEND)
FACTORS = (1.0, 1.3, 1.7, 2.2, 3.0)
RULE = 1.7
CACHE = Path(__file__).resolve().parents[2] / "out" / "judge-headline"
CHECKED = 10

Rng = np.random.Generator
Votes = np.ndarray
Population = Callable[[Rng], tuple[Votes, np.ndarray]]


def independent(
    rng: Rng,
    *,
    judges: int,
    items: int,
    low: float = 0.6,
    high: float = 0.9,
    share: float = 0.5,
    labels: int = 2,
) -> tuple[Votes, np.ndarray]:
    """Return votes (items x judges) with independent errors, accuracies by label uniform in a
    range, and the truth.
    """
    weights = np.array([share, *np.full(labels - 1, (1 - share) / (labels - 1))])
    truth = rng.choice(labels, items, p=weights)
    accuracy = rng.uniform(low, high, (judges, labels))
    right = rng.random((items, judges)) < accuracy[:, truth].T
    other = (truth[:, None] + rng.integers(1, labels, (items, judges))) % labels
    return np.where(right, truth[:, None], other), truth


def sparse(rng: Rng) -> tuple[Votes, np.ndarray]:
    """Return the votes of 40 judges, 10 an item."""
    votes, truth = independent(rng, judges=40, items=400)
    for row in votes:
        row[rng.permutation(40)[10:]] = -1
    return votes, truth


def copies(
    rng: Rng, *, judges: int, items: int, copiers: int, share: float
) -> tuple[Votes, np.ndarray]:
    """Return votes in which some judges repeat the first judge's vote on a share of the items."""
    votes, truth = independent(rng, judges=judges, items=items)
    for j in range(1, 1 + copiers):
        votes[:, j] = np.where(rng.random(items) < share, votes[:, 0], votes[:, j])
    return votes, truth


def hard_items(rng: Rng) -> tuple[Votes, np.ndarray]:
    """Return votes on items of which a third is hard: every judge is near a coin there."""
    votes, truth = independent(rng, judges=7, items=1000, low=0.75, high=0.95)
    is_hard = rng.random(1000) < 1 / 3
    coin = rng.random((1000, 7)) < 0.55
    votes[is_hard] = np.where(coin, truth[:, None], 1 - truth[:, None])[is_hard]
    return votes, truth


def shared_bias(rng: Rng, *, share: float) -> tuple[Votes, np.ndarray]:
    """Return votes of judges that all see the other label on a share of the items, and err around
    that.
    """
    votes, seen = independent(rng, judges=6, items=1000, low=0.7, high=0.95)
    return votes, np.where(rng.random(1000) < share, 1 - seen, seen)


POPULATIONS: Mapping[str, tuple[str, Population]] = {
    "5 judges, 1000 items": ("independent", lambda rng: independent(rng, judges=5, items=1000)),
    "6 judges, 100 items": ("independent", lambda rng: independent(rng, judges=6, items=100)),
    "20 judges, 200 items": ("independent", lambda rng: independent(rng, judges=20, items=200)),
    "5 judges, one label 10 %": (
        "independent",
        lambda rng: independent(rng, judges=5, items=2000, share=0.1),
    ),
    "weak judges (.5 to .65)": (
        "independent",
        lambda rng: independent(rng, judges=8, items=1000, low=0.5, high=0.65),
    ),
    "three labels": ("independent", lambda rng: independent(rng, judges=6, items=600, labels=3)),
    "40 judges, 10 votes an item": ("independent", sparse),
    "two of six copy a third (half)": (
        "correlated",
        lambda rng: copies(rng, judges=6, items=1000, copiers=2, share=0.5),
    ),
    "three of five nearly one": (
        "correlated",
        lambda rng: copies(rng, judges=5, items=1000, copiers=2, share=0.85),
    ),
    "one pair of ten": (
        "correlated",
        lambda rng: copies(rng, judges=10, items=300, copiers=1, share=0.7),
    ),
    "hard items": ("correlated", hard_items),
    "shared bias on 10 %": ("shared bias", lambda rng: shared_bias(rng, share=0.1)),
    "shared bias on 30 %": ("shared bias", lambda rng: shared_bias(rng, share=0.3)),
}


def one(votes: Votes, truth: np.ndarray, *, check: bool) -> dict[str, Any]:
    """Return the error of every method and of every factor of the rule, and what was claimed.

    The parts of ``evaluate`` are called one by one, to spare what does not bear on the rule;
    *check* compares.
    """
    names = [f"j{k}" for k in range(votes.shape[1])]
    tally = Tally.of(
        {name: [None if v < 0 else int(v) for v in votes[:, k]] for k, name in enumerate(names)}
    )
    voted = votes >= 0
    true = dict(
        zip(names, (voted & (votes == truth[:, None])).sum(axis=0) / voted.sum(axis=0), strict=True)
    )
    ballots = Ballots.of(tally)
    found = {estimate.method: _error(estimate.accuracy, true) for estimate in majorities(ballots)}
    above, ratio, claimed = True, np.inf, []
    try:
        fitted = fit_ballots(ballots)
        test = misfit(fitted, rng=0)
        above, ratio = test.rms > float(test.null.max()), test.ratio
        scores = dawid_skene_result(ballots, fitted, known=None, alpha=0.05).judges
        found["dawid-skene"] = _error({score.name: score.accuracy for score in scores}, true)
        if not test.refuted:
            claimed = [
                (one.interval, true[one.name])
                for one in scores
                if isinstance(one.interval, Interval)
            ]
    except ConvergenceError:  # the rule then leads with the majorities
        found["dawid-skene"] = found[BLEND]
    by_factor = {
        f"{factor}": found[BLEND if above and ratio > factor else "dawid-skene"]
        for factor in FACTORS
    }
    if check:
        result = judge.evaluate(tally, rng=0)
        shipped = _error({score.name: score.accuracy for score in result.judges}, true)
        assert abs(shipped - by_factor[f"{RULE}"]) < 1e-9, (shipped, by_factor)
    return {
        **{method: found[method] for method in METHODS},
        **by_factor,
        "headline": by_factor[f"{RULE}"],
        "refuted": float(above and ratio > RULE),
        "covered": float(np.mean([value in ends for ends, value in claimed])) if claimed else None,
    }


def repeated(place: int, draw: Population) -> list[dict[str, Any]]:
    """Return what `one` says of every table of a population; a killed run goes on where it was."""
    path = CACHE / f"{place}.json"
    done: list[dict[str, Any]] = (
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    )
    for r in range(len(done), REPETITIONS):
        done.append(one(*draw(np.random.default_rng([11, place, r])), check=r < CHECKED))
        if (r + 1) % 20 == 0:
            CACHE.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".tmp").write_text(json.dumps(done), encoding="utf-8")
            path.with_suffix(".tmp").replace(path)
    return done[:REPETITIONS]


def _error(found: Mapping[str, Any], true: Mapping[str, float]) -> float:
    return float(
        np.mean(
            [abs(value - true[name]) for name, value in found.items() if isinstance(value, float)]
        )
    )


def main() -> None:
    rows, means = [], []
    for p, (name, (kind, draw)) in enumerate(POPULATIONS.items()):
        found = repeated(p, draw)
        mean = {
            key: float(np.mean([row[key] for row in found])) for key in found[0] if key != "covered"
        }
        claims = [row["covered"] for row in found if row["covered"] is not None]
        rows.append(
            {
                "population": name,
                "errors": kind,
                "headline": mean["headline"],
                **{method: mean[method] for method in METHODS},
                "refuted": mean["refuted"],
                "interval given": len(claims) / REPETITIONS,
                "judges covered": float(np.mean(claims)) if claims else "–",
            }
        )
        means.append((kind, mean))
        print(name, flush=True)
    kinds = ("independent", "correlated", "shared bias")
    rules = []
    for choice in (*METHODS, *(f"{factor}" for factor in FACTORS)):
        told = f"always {choice}" if choice in METHODS else f"rule with {choice} x the null"
        every = {kind: [mean[choice] for k, mean in means if k == kind] for kind in kinds}
        rules.append(
            {
                "lead with": told,
                **{kind: float(np.mean(values)) for kind, values in every.items()},
                "all populations": float(np.mean([mean[choice] for _, mean in means])),
            }
        )
    each = (
        f"{REPETITIONS} drawn tables a population; mean absolute error of the judges' accuracies."
    )
    record(
        "judge-headline",
        "Which number leads without labels: the rule on simulated populations",
        rows,
        notes=(
            each,
            (
                f"The parts of `evaluate` are called one by one; on the first {CHECKED} tables of"
                " each population it gave the same numbers itself."
            ),
            (
                "*Refuted* is the share of tables on which the votes refute independent errors, so"
                " that majorities lead and no interval is given: a false alarm where errors are"
                " independent. *Judges covered* is the share of judges inside the 95 % interval,"
                " where one was given."
            ),
            (
                "A shared bias is not seen, and its intervals fail: that is what the warning of"
                " every label-free result says."
            ),
        ),
    )
    record(
        "judge-headline-rules",
        "Other rules on the same tables",
        rules,
        notes=(
            each + " Means over the populations of each kind.",
            (
                "The rule of `evaluate` asks for a misfit above every null draw and above 1.7 times"
                " their mean."
            ),
        ),
    )


if __name__ == "__main__":
    main()
