"""The verb ``dynamic label-cost``: what an adversarial label is worth on a table of your own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import seed_of
from tallystick.data import Capability, Data, Door
from tallystick.dynamic.label_cost import Campaign, LabelCost, label_cost
from tallystick.dynamic.question import LabelCostQuestion
from tallystick.dynamic.verdict import label_cost_verdict
from tallystick.errors import InputError, MissingExtra
from tallystick.results import Result

__all__ = ["LABEL_COST", "LabelCostResult", "label_cost_answer"]

_FEWEST = 100


@dataclass(frozen=True, kw_only=True)
class LabelCostResult(Result):
    """What adversarial labels were worth on a table, in uniform labels."""

    verb: ClassVar[str] = "dynamic"

    action: str = "label-cost"
    learner: str
    features: tuple[str, ...]
    cost: LabelCost

    def rows(self) -> list[dict[str, Any]]:
        """Return the risk of each way to spend the labels."""
        cost, more = self.cost, self.cost.adversarial_labels
        return [
            {"labels": "adversarial, as a path", "bought": more, "risk": cost.path_risk}
            | {"standard_error": cost.path_error, "worth_in_uniform_labels": cost.path_worth},
            {"labels": "adversarial, plain training", "bought": more, "risk": cost.flat_risk}
            | {"standard_error": cost.flat_error, "worth_in_uniform_labels": cost.flat_worth},
            {"labels": "uniform", "bought": more, "risk": cost.fresh_risk}
            | {"standard_error": cost.fresh_error, "worth_in_uniform_labels": 1.0},
        ]


def label_cost_answer(data: Data, question: LabelCostQuestion) -> LabelCostResult:
    """Run both campaigns on the numeric columns of a table, with its truth as labels."""
    if data.roles.truth is None:
        raise InputError("name the column of labels that a classifier should learn (--truth)")
    kinds = data.table.kinds
    held = {data.roles.truth, data.roles.item, *data.table.left_out}
    features = tuple(
        name for name in data.table.columns if name not in held and _numeric(data, name, kinds)
    )
    if not features:
        raise InputError("no numeric column is left to learn from: give a table of numbers")
    values = data.numbers(*features)
    labels = np.array(
        [str(label) for label in data.label_lists(data.roles.truth)[data.roles.truth]]
    )
    known = ~np.isnan(values).any(axis=1) & (labels != "None")
    items = int(known.sum())
    if items < _FEWEST:
        raise InputError(f"label-cost needs {_FEWEST} complete rows or more, got {items}")
    campaign = Campaign(
        start=question.start or max(10, items // 20),
        batch=question.batch or max(2, items // 100),
        rounds=question.rounds,
    )
    cost = label_cost(
        _estimator(question.learner),
        values[known],
        labels[known],
        campaign=campaign,
        rollouts=question.rollouts,
        rng=question.seed,
    )
    return LabelCostResult(
        verdict=label_cost_verdict(cost, question.learner),
        n_items=items,
        assumptions=(
            "annotators find errors by chance among unlabelled items, and every label is right",
            f"the learner is the one you train (here: {question.learner}); another may differ",
        ),
        seed=seed_of(question.seed),
        notes=(f"features: {', '.join(features[:8])}{' …' if len(features) > 8 else ''}",),
        learner=question.learner,
        features=features,
        cost=cost,
    )


def _numeric(data: Data, name: str, kinds: Any) -> bool:
    if kinds[name] in ("integer", "float", "boolean"):
        return True
    try:
        return bool(np.isfinite(data.numbers(name)).any())
    except InputError:
        return False


def _estimator(name: str) -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import GaussianNB
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as error:
        raise MissingExtra("scikit-learn", "sklearn") from error
    if name == "tree":
        return DecisionTreeClassifier(max_depth=8, max_features="sqrt")
    return GaussianNB() if name == "bayes" else LogisticRegression(max_iter=300)


LABEL_COST = Capability(
    verb="dynamic label-cost",
    summary="How many uniform labels is one adversarial label worth, on a table of your own?",
    question=LabelCostQuestion,
    answer=label_cost_answer,
    reads=("truth", "item"),
    door=Door(pivots=False, repeats=True),
)
