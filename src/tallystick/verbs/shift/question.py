"""What can be asked about an API: how to reach it, how much to spend, what to compare it with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.clients import ClientQuestion
from tallystick.errors import BudgetError, InputError
from tallystick.results import Gate, parse_gate
from tallystick.results.gates import check_bar
from tallystick.sampling import Plan
from tallystick.table import Demo, option
from tallystick.table.capability import draw_answers, draw_truth
from tallystick.verbs.shift.design import Items, Strategy, design
from tallystick.verbs.shift.noise import FEWEST_REPEATS, REPEAT_SHARE

# What a gate can compare, and between what it lies (None: grades have scales of their own).
# flip_rate is how many more answers differ than two answers of the old API would (all flips of a
# deterministic API), stability the share of repeated calls that agree, answers_differ the share of
# all flips; recall_change:LABEL names a label.
_SHARE, _CHANGE = (0.0, 1.0), (-1.0, 1.0)
METRICS: dict[str, tuple[float, float] | None] = {
    "flip_rate": _SHARE,
    "stability": _SHARE,
    "answers_differ": _SHARE,
    "accuracy_change": _CHANGE,
    "grade_change": None,
    "recall_change": _CHANGE,
}

_GATE = (
    "'flip_rate <= .01', 'stability >= .98', 'accuracy_change >= -.02', …: exit 10 fails, 11"
    " undecided."
)


@dataclass(frozen=True, kw_only=True)
class ShiftQuestion(ClientQuestion):
    """What is asked about an API.

    It is all that decides a run besides the data and the API.
    """

    scale: tuple[float, float] | None = option(None, "Answers are grades.", metavar="LO,HI")
    old_draws: tuple[str, ...] = option(
        (), "More answers of the same old version to each item; repeat, or use commas."
    )
    budget: int | None = option(None, "Most questions to ask. This is a hard limit.", low=1)
    since: Path | None = option(
        None, "Journal of the last run or baseline: its answers are the old ones.", metavar="FILE"
    )
    strategy: str = option(
        "ours", "How to choose which items to ask about.", choices=tuple(get_args(Strategy))
    )
    gates: tuple[str, ...] = option((), _GATE, flag="--gate", metavar="EXPR")
    repeats: int | None = option(
        None, "Most changed answers to ask again; by default a tenth of the budget.", low=0
    )
    deterministic: bool = option(False, "Take it that the same call always gives the same answer.")
    history: Path | None = option(
        None,
        "Append this result to a file, and compare it with those before.",
        metavar="FILE",
        writes=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("gates", "old_draws"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        more = (piece.strip() for text in self.old_draws for piece in str(text).split(","))
        object.__setattr__(self, "old_draws", tuple(more))
        read_gates(self.gates)
        if self.scale is not None and not self.scale[0] < self.scale[1]:
            raise InputError(f"scale goes from the lowest grade to the highest, got {self.scale}")
        if self.budget is not None and self.budget <= (self.repeats or 0):
            raise BudgetError(
                f"a budget of {self.budget} calls does not allow {self.repeats} repeats"
            )

    @property
    def labels_speak_for(self) -> str:
        """Accuracy is said of the items with a true label alone, and what differs needs none."""
        return "none"

    @property
    def flip_limit(self) -> float | None:
        """The share of changed answers that a run watches while it asks, if a gate sets one.

        It then asks in random order, and stops as soon as it is proved that more, or fewer,
        changed. Of several such gates the first is watched; the others are checked at the end.
        """
        gates = read_gates(self.gates)
        watched = (gate for gate in gates if gate.left == "flip_rate" and gate.relation == "<=")
        return next((gate.offset for gate in watched), None)

    def affordable(self) -> int:
        """Return how many questions budget and money allow at most, repeats included."""
        budget, limit, price = self.budget, self.max_cost, self.prices.call
        if budget is None:
            raise InputError("say how many questions may be asked at most (--budget)")
        if limit is None or not price:
            return budget
        calls = min(budget, int(limit / price + 1e-9))
        if calls < 1:
            raise BudgetError(f"max_cost = {limit:g} does not pay for one call")
        return calls

    def most_repeats(self, *, fresh: bool = True) -> int:
        """Return how many flips may be asked again; *fresh* says whether that is possible."""
        # MASA asks where it is unsure, so its flips are no random ones: repeats would mislead.
        if self.deterministic or not fresh or self.strategy == "masa":
            return 0
        budget = self.affordable()
        planned = max(FEWEST_REPEATS, budget // REPEAT_SHARE)
        return planned if self.repeats is None else min(self.repeats, budget - 1)

    def plan(self, items: Items, *, fresh: bool = True) -> Plan:
        """Return the plan of this run."""
        budget = self.affordable()
        calls = min(budget, len(items))
        repeats = self.most_repeats(fresh=fresh)
        # What lies beyond the items pays for repeats first; the blind phase leaves the rest.
        reserve = min(max(0, repeats - (budget - calls)), 3 * calls // 10)
        watched = self.flip_limit is not None
        if watched or self.strategy != "ours":
            calls -= reserve
        # A slow answer must not stall the others, so the window is wider than what may be in
        # flight; a gate, which throws away what it asked too much, gets none wider than that.
        wide = self.concurrency * (1 if watched else 4)
        return design(
            items,
            calls=calls,
            strategy=cast(Strategy, self.strategy),
            random_first=calls if watched else 0,
            reserve=reserve,
            window=max(1, min(wide, calls // 4)),
        )


def read_gates(texts: Sequence[str]) -> tuple[Gate, ...]:
    """Read gates as they are typed; each compares a metric with a number.

    >>> [gate.left for gate in read_gates(["flip_rate <= 1%"])]
    ['flip_rate']
    """
    gates = tuple(parse_gate(text) for text in texts)
    for gate in gates:
        name, colon, _ = gate.left.partition(":")
        if (
            gate.right is not None
            or name not in METRICS
            or bool(colon) != (name == "recall_change")
        ):
            raise InputError(
                f"a gate of shift compares one of {', '.join(METRICS)}:LABEL with a number, e.g."
                f" 'flip_rate <= 0.01', got {str(gate)!r}"
            )
        # Before a call is paid for.
        if (within := METRICS[name]) is not None:
            check_bar(gate, *within, share=True)
    return gates


def check_metric(metric: str, items: Items, *, graded: bool) -> None:
    """Refuse a *metric* that no run on *items* can measure, before a call is paid for.

    >>> check_metric("recall_change:Cat", Items.of(["cat", "dog"], old=["cat", "dog"]), graded=False)
    Traceback (most recent call last):
    tallystick.errors.InputError: a gate on recall_change names a label with items, one of cat, dog; got 'Cat'
    """
    name, colon, label = metric.partition(":")
    known = [one for one, mass in zip(items.labels, items.mass, strict=True) if mass]
    missing = ""
    if name in ("accuracy_change", "recall_change") and not items.labelled:
        missing = "--truth"
    if name == "grade_change" and not graded:
        missing = "--scale LO,HI"
    if missing:
        raise InputError(f"a gate on {metric} needs {missing}")
    if colon and label not in known:
        raise InputError(
            f"a gate on recall_change names a label with items, one of {', '.join(known[:8])};"
            f" got {label!r}"
        )


# A table for the demonstration: a sentiment API in two versions.


def demo(rng: Rng) -> Demo:
    """Return answers of two versions on 8,000 reviews; 600 of the new ones may be looked at.

    The new version calls more neutral reviews negative, where the old one was not sure.
    """
    draw, n, budget = as_rng(rng), 8000, 600
    truth = draw_truth(n, (0.5, 0.3, 0.2), draw)
    names = np.array(["positive", "negative", "neutral"])
    sure = draw.beta(5, 2, n)
    old = draw_answers(truth, 0.88, 3, draw, hard=-(sure - 0.71) / 0.16, shared=0.5)
    moved = (draw.random(n) < 0.25) & (truth == 2) & (sure < 0.7)
    table: dict[str, Any] = {
        "item": np.arange(n),
        "truth": names[truth],
        "pred_old": names[old],
        "pred_new": names[np.where(moved, 1, old)],
        "conf_old": np.round(sure, 4),
    }
    return Demo(
        story=(
            "A sentiment API has a new version. You have 8,000 labelled reviews and pay for"
            f" {budget} calls. What changed?"
        ),
        table=table,
        options={
            "truth": "truth",
            "old": "pred_old",
            "confidence": "conf_old",
            "api": "replay:pred_new",
            "budget": budget,
            "deterministic": True,
        },
    )
