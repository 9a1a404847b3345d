"""From items and a budget to a plan: which strata, which policy, what an answer counts for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import BudgetError, InputError
from tallystick.sampling import (
    Budget,
    Equal,
    Flips,
    Masa,
    Plan,
    Policy,
    Proportional,
    Strata,
    Uniform,
    difficulty_cells,
    history_cells,
)
from tallystick.shift.items import Items
from tallystick.shift.noise_rules import BLIND_SHARE

__all__ = ["AskDesign", "Strategy", "design", "weight_matrix"]

Strategy: TypeAlias = Literal["ours", "masa", "uniform", "proportional", "equal"]
LARGEST = 50_000_000
"""Strata times outcomes that a plan may hold."""


@dataclass(frozen=True, kw_only=True)
class AskDesign:
    """How to sample.

    Parameters
    ----------
    strategy
        ``ours`` (old answers make the strata, flips lead the last three tenths of the budget),
        ``masa`` (the paper's Algorithm 1), or one of its baselines: ``uniform``, ``proportional``,
        ``equal``.
    bins
        The paper's K: confidence bins of each true label. ``ours`` chooses its own.
    exploration
        The paper's a.
    weights
        None, ``"accuracy"``, ``"four>five"`` (several by commas) or a matrix (L, L) or (L, L + 1):
        which errors matter.
    random_first
        This many questions go in uniformly random order: what a sequential gate needs. ``ours``
        only.
    reserve
        Questions that the blind phase leaves for repeats. ``ours`` only.
    window
        The choice number t uses the answers to the first t - window questions.
    """

    strategy: Strategy = "ours"
    bins: int = 3
    exploration: float = 1.0
    weights: str | tuple[tuple[float, ...], ...] | None = None
    random_first: int = 0
    reserve: int = 0
    window: int = 1

    def __post_init__(self) -> None:
        if self.strategy not in get_args(Strategy):
            raise InputError(
                f"strategy must be one of {', '.join(get_args(Strategy))}, got {self.strategy!r}"
            )
        if self.bins < 1:
            raise InputError(f"bins must be at least 1, got {self.bins!r}")


def design(items: Items, *, calls: int, how: AskDesign) -> Plan:
    """Return the plan for *calls* questions.

    ``ours`` needs old answers by item; without them refuse rather than guess (the command line
    falls back to MASA and says so). A budget below two questions per stratum is refused.
    MASA's plans keep L + 1 outcomes in L K strata, the paper's O(L² K) space, and an answer costs
    O(L K): the choice.

    Examples
    --------
    >>> items = Items.of(["a"] * 60 + ["b"] * 40, old=["a"] * 90 + ["b"] * 10)
    >>> len(design(items, calls=50, how=AskDesign()).strata)
    3
    >>> design(items, calls=50, how=AskDesign(strategy="masa")).n_outcomes
    3
    """
    if calls < 1:
        raise BudgetError(f"calls must be at least 1, got {calls!r}")
    calls = min(calls, len(items))
    strata, policy = _strata(items, calls, how)
    L = len(items.labels)
    label_of = _label_of(strata, items)
    weights = None if how.weights is None else weight_matrix(how.weights, items.labels)
    # Strata of one true label each tell (true, answer) apart by themselves; mixed ones need the
    # flattened code.
    pure = bool((label_of >= 0).all())
    J = L + 1 if pure else L * (L + 1)
    if len(strata) * J > LARGEST:
        raise InputError(
            f"{L} labels in {len(strata)} strata are too many: merge labels, or use strategy='masa'"
        )
    old = (
        None
        if items.old is None or how.strategy != "ours"
        else items.old
        if pure
        else items.flat(items.old)
    )
    return Plan(
        strata=strata,
        policy=policy,
        budget=Budget(calls=calls),
        n_outcomes=J,
        baseline=old,
        weights=None if weights is None else weights[label_of] if pure else weights.ravel(),
        in_flight=how.window,
    )


def outcome(plan: Plan, items: Items, item: int, answer: int) -> int:
    """Return the outcome code of *plan* for the code of an answer to *item*."""
    L = len(items.labels)
    return answer if plan.n_outcomes == L + 1 else int(items.truth[item]) * (L + 1) + answer


def _strata(items: Items, calls: int, how: AskDesign) -> tuple[Strata, Policy]:
    if how.strategy == "ours":
        if items.old is None:
            raise InputError(
                "strategy 'ours' needs the old answer to every item (old=…): without them use"
                " 'masa'"
            )
        strata = history_cells(items.truth, items.old, calls=calls, confidence=items.confidence)
        first = min(how.random_first, calls)
        # A gate that may take the whole budget leaves nothing for a minimum in each stratum.
        minimum = 2 if calls - first >= 2 * len(strata) else 0
        return strata, Flips(blind=BLIND_SHARE, first=first, minimum=minimum, reserve=how.reserve)
    if how.random_first:
        raise InputError(
            f"a sequential gate needs strategy 'ours' (a random order first), got {how.strategy!r}"
        )
    if how.strategy == "uniform":
        return Strata(np.zeros(len(items), np.intp)), Uniform()
    # The paper's stratified baseline draws as many for each true label, whatever its difficulty.
    bins = 1 if items.confidence is None or how.strategy == "equal" else how.bins
    rank = np.zeros(len(items)) if items.confidence is None else items.confidence
    cells = difficulty_cells(np.unique(items.truth, return_inverse=True)[1], rank, bins=bins)
    policies: dict[str, Policy] = {
        "masa": Masa(exploration=how.exploration),
        "proportional": Proportional(),
        "equal": Equal(),
    }
    return cells, policies[how.strategy]


def _label_of(strata: Strata, items: Items) -> NDArray[np.intp]:
    """Return the true label of every stratum, -1 where it has several."""
    first = np.full(len(strata), -1, np.intp)
    first[strata.of] = items.truth
    mixed = (
        np.bincount(strata.of, weights=first[strata.of] != items.truth, minlength=len(strata)) > 0
    )
    return np.where(mixed, -1, first)


def weight_matrix(weights: str | ArrayLike, labels: Sequence[str]) -> NDArray[np.float64]:
    """Return the (L, L + 1) matrix W of the paper's section 3.2.

    Parameters
    ----------
    weights
        ``"accuracy"`` for the identity, ``"four>five"`` (true > answered; several by commas), or a
        matrix.
    labels
        The labels.

    Examples
    --------
    >>> weight_matrix("a>b", ["a", "b"])
    array([[0., 1., 0.],
           [0., 0., 0.]])
    """
    L = len(labels)
    if not isinstance(weights, str):
        table = np.asarray(weights, dtype=np.float64)
        if (
            table.shape not in ((L, L), (L, L + 1))
            or not np.isfinite(table).all()
            or (table < 0).any()
        ):
            raise InputError(
                f"weights must be a {L} x {L} matrix of numbers, none negative, got shape"
                f" {table.shape}"
            )
        if not table.any():
            raise InputError(
                "weights are all zero: then no error matters, and there is nothing to ask"
            )
        return np.hstack([table, np.zeros((L, L + 1 - table.shape[1]))])
    if weights == "accuracy":
        return np.eye(L, L + 1)
    table = np.zeros((L, L + 1))
    for pair in weights.split(","):
        true, arrow, answered = (part.strip() for part in pair.partition(">"))
        if not arrow or true not in labels or answered not in (*labels, "(other)"):
            raise InputError(
                f"weights must be 'accuracy', 'TRUE>ANSWERED' or a matrix, got {pair!r} for"
                f" {list(labels)}"
            )
        table[list(labels).index(true), [*labels, "(other)"].index(answered)] = 1.0
    return table
