"""Which number should lead without labels? The headline of ``evaluate`` on simulated populations.

    python -m benchmarks.truth.judge_headline [--write]

No real set is looked at here: the rule stands before they are (judge.py runs those).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.known import known
from benchmarks.record import record
from tallystick.papers.noisy_judges import majority_scores
from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs import judge
from tallystick.verbs.judge.label_free import fit_vote_model

REPETITIONS = 16
METHODS = ("dawid-skene", "majority", "majority of the others")
CHECKED = 2

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
    "5 judges, one label 10%": (
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
    "shared bias on 10%": ("shared bias", lambda rng: shared_bias(rng, share=0.1)),
    "shared bias on 30%": ("shared bias", lambda rng: shared_bias(rng, share=0.3)),
}


def one(votes: Votes, truth: np.ndarray, *, check: bool) -> dict[str, Any]:
    """Return the error of every method and pull, and the share of judges that the range holds.

    The parts of ``evaluate`` are called one by one, to spare what does not bear on the rule;
    *check* compares.
    """
    names = [f"j{k}" for k in range(votes.shape[1])]
    tally = Tally.of(
        {name: [None if v < 0 else int(v) for v in votes[:, k]] for k, name in enumerate(names)}
    )
    voted = votes >= 0
    true = (voted & (votes == truth[:, None])).sum(axis=0) / voted.sum(axis=0)
    panel = Panel.of(tally)
    model = fit_vote_model(panel, panel, rng=0)
    found: dict[str, Any] = {}
    for name, apart in (("majority", False), ("majority of the others", True)):
        right, mass = majority_scores(
            panel.codes, panel.counts, n_labels=len(panel.classes), leave_one_out=apart
        )
        found[name] = _error(right.sum(axis=1) / mass.sum(axis=1), true)
    found["dawid-skene"] = _error(model.fit.accuracy[0], true)
    head = model.headline
    if check:
        shipped = judge.evaluate(tally, judges=names)
        assert np.allclose([known(score.accuracy) for score in shipped.judges], head.accuracy)
    return {
        **found,
        "headline": _error(head.accuracy, true),
        "held": float(np.mean((head.low <= true) & (true <= head.high))),
        "width": float(np.mean(head.high - head.low)),
        "refuted": float(getattr(model.misfit, "refuted", False)),
    }


def _error(found: Any, true: np.ndarray) -> float:
    return float(np.mean(np.abs(np.asarray(found, dtype=float) - true)))


def main() -> None:
    rows = []
    for p, (name, (kind, draw)) in enumerate(POPULATIONS.items()):
        found = [
            one(*draw(np.random.default_rng([11, p, r])), check=r < CHECKED)
            for r in range(REPETITIONS)
        ]
        mean = {key: float(np.mean([row[key] for row in found])) for key in found[0]}
        rows.append(
            {
                "population": name,
                "errors": kind,
                "headline": mean["headline"],
                **{method: mean[method] for method in METHODS},
                "range held": mean["held"],
                "its width": mean["width"],
                "refuted": mean["refuted"],
            }
        )
        print(name, flush=True)

    each = (
        f"{REPETITIONS} drawn tables per population; mean absolute error of the judges' accuracies."
    )
    record(
        "judge-headline",
        "Which number leads without labels: the rule on simulated populations",
        rows,
        notes=(
            each,
            "The headline is Dawid-Skene with unreadable items, pulled towards the majority of the"
            " others by misfit. There is no interval without labels; *range held* is the share of"
            " judges inside the range (half to double of the error rate).",
            "*Refuted* is the share of tables on which the votes refute independent errors.",
        ),
    )


if __name__ == "__main__":
    main()
