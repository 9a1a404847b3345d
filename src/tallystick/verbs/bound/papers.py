"""What exists to reproduce the source: the paper's experiments with weak labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Figure, Result
from tallystick.table import Tally
from tallystick.verbs.bound.forward import FloatArray, Scheme, forward
from tallystick.verbs.bound.label_model_checks import Fitting, ModelLike, fitted, prepared
from tallystick.verbs.bound.label_models import LabelModel
from tallystick.verbs.bound.weak_votes import BoundTarget, WeakTable, coarser, weak_table

# Weights with which any learner that takes sample_weight trains on the noise-aware loss.


def noise_aware_weights(label_model: LabelModel, votes: npt.ArrayLike) -> FloatArray:
    r"""Return P(Y = y | votes) for every row: n x classes.

    The noise-aware loss :math:`\sum_i \sum_y P(y \mid z_i)\,\ell(h(x_i), y)` is a weighted loss on
    the rows repeated once a class: repeat X, give repetition y the label y, and use
    ``weights.T.ravel()`` as ``sample_weight``. Rows of which the label model knows nothing weigh
    nothing.

    Parameters
    ----------
    label_model
        Any of :mod:`tallystick.bound.label_models`.
    votes
        n x weak columns, index of the class or -1 for an abstention.

    Examples
    --------
    >>> from tallystick.verbs.bound.weak_votes import weak_table
    >>> from tallystick.verbs.bound.label_models import majority
    >>> from tallystick.table import Tally
    >>> table = weak_table(Tally.of({"a": [0, 1], "b": [1, 1], "h": [0, 1]}), weak=["a", "b"], prediction="h")
    >>> noise_aware_weights(majority(table), [[1, 1], [0, -1]]).round(2).tolist()
    [[0.17, 0.83], [0.75, 0.25]]
    """
    held = np.asarray(votes)
    if held.ndim != 2 or held.shape[1] != len(label_model.weak) or held.dtype.kind not in "iu":
        raise InputError(
            f"votes must be integers of shape (rows, {len(label_model.weak)}), got {held.dtype}"
            f" {held.shape}"
        )
    patterns, place = np.unique(held.astype(np.int64), axis=0, return_inverse=True)
    return np.nan_to_num(np.asarray(label_model.predict(patterns), dtype=np.float64), nan=0.0)[
        place.reshape(-1)
    ]


# Which weak labels are worth having: those that make the bounds short.


_GAIN = 0.005
"""A weak label that shortens the bounds by less than this is called useless."""


@dataclass(frozen=True, kw_only=True)
class WeakSetStep:
    """One weak label added, and the bounds with it."""

    added: str
    lower: float
    upper: float
    useful: bool

    @property
    def width(self) -> float:
        """How far the bounds are apart."""
        return self.upper - self.lower


@dataclass(frozen=True, kw_only=True)
class WeakSetResult(Result):
    """Weak labels in the order in which they help, and those that do not."""

    verb: ClassVar[str] = "bound"

    start: tuple[str, ...]
    start_bounds: tuple[float, float]
    steps: tuple[WeakSetStep, ...]
    chosen: tuple[str, ...]
    useless: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a step."""
        return [
            {
                "added": s.added,
                "lower": s.lower,
                "upper": s.upper,
                "width": s.width,
                "useful": s.useful,
            }
            for s in self.steps
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the bounds by number of weak labels."""
        return (
            Figure(
                kind="bands",
                title="The bounds as weak labels are added",
                columns={
                    "weak labels": list(
                        range(len(self.start), len(self.start) + len(self.steps) + 1)
                    ),
                    "lower": [self.start_bounds[0], *(s.lower for s in self.steps)],
                    "upper": [self.start_bounds[1], *(s.upper for s in self.steps)],
                    "added": [", ".join(self.start), *(s.added for s in self.steps)],
                },
                roles={"x": "weak labels", "low": "lower", "high": "upper", "text": "added"},
            ),
        )


def choose_weak_labels(
    tally: Tally,
    *,
    prediction: str,
    start: Sequence[str],
    candidates: Sequence[str],
    label_model: ModelLike = "dawid-skene",
    target: BoundTarget | None = None,
    fitting: Fitting | None = None,
    rng: Rng = 0,
) -> WeakSetResult:
    """Add weak labels one by one, each time the one that makes the bounds shortest.

    [MP23]_, section 4.2 and Figure 3. The label model is that of all weak labels together (it needs
    three anyway), fitted once; a set of weak labels is judged by the bounds that its patterns give
    under P(Y | those votes), which is the average of P(Y | all votes). More weak labels can then
    only help, so that the gain is what each is worth, and a label that says nothing of Y gains
    nothing.

    Parameters
    ----------
    tally
        Counts over all weak labels and the prediction.
    prediction
        The column of predictions.
    start
        Weak labels that are there already; may be empty.
    candidates
        Those that could be added.
    label_model, target, fitting, rng
        As for :func:`~tallystick.verbs.bound.evaluate`; the first metric counts.
    """
    target = BoundTarget() if target is None else target
    if not candidates:
        raise InputError("candidates must name at least one weak label")
    table = weak_table(tally, weak=[*start, *candidates], prediction=prediction)
    model = fitted(label_model, table, fitting or Fitting())
    p = model.probabilities(table)
    if not np.isfinite(p).all():
        raise NotIdentifiable(
            f"label model {model.name!r} says nothing of some patterns: choose among weak labels it"
            " knows"
        )
    generator = as_rng(rng)
    seed = int(generator.integers(2**31))

    def ends(weak: Sequence[str]) -> tuple[float, float]:
        part = table.only(weak)
        coarse = _averaged(table, part, p)
        one = prepared(_as_model(part, coarse, model.name), part, delta=target.delta)
        wanted = target.summaries(part)[0]
        [(low, high)] = forward(one.evidence, [wanted], rng=seed, scheme=Scheme.fitting(part.n))
        return float(np.clip(low.estimate, 0, 1)), float(np.clip(high.estimate, 0, 1))

    held, left = list(start), list(candidates)
    first = ends(held)
    width = first[1] - first[0]
    steps: list[WeakSetStep] = []
    while left:
        found = {name: ends([*held, name]) for name in left}
        best = min(left, key=lambda name: found[name][1] - found[name][0])
        gain = width - (found[best][1] - found[best][0])
        steps.append(
            WeakSetStep(added=best, lower=found[best][0], upper=found[best][1], useful=gain > _GAIN)
        )
        width = min(width, found[best][1] - found[best][0])
        held.append(best)
        left.remove(best)
    useful = [s.added for s in steps if s.useful]
    useless = tuple(s.added for s in steps if not s.useful)
    last = next((s for s in reversed(steps) if s.useful), None)
    now = first[1] - first[0] if last is None else last.width
    return WeakSetResult(
        verdict=(
            f"{len(useful)} of {len(candidates)} weak labels shorten the bounds, from"
            f" {first[1] - first[0]:.3f} to {now:.3f}; {len(useless)} do not."
        ),
        n_items=table.n,
        assumptions=(model.rests_on,),
        seed=seed_of(rng),
        start=tuple(start),
        start_bounds=first,
        steps=tuple(steps),
        chosen=(*start, *useful),
        useless=useless,
    )


def _averaged(table: WeakTable, part: WeakTable, p: FloatArray) -> FloatArray:
    """Return P(Y | coarser votes): the average of P(Y | z) over the rows that show them."""
    _, place = coarser(table.votes, [table.weak.index(name) for name in part.weak])
    out = np.zeros((len(part.votes), p.shape[1]))
    np.add.at(out, place, p * table.weight[:, None])
    return np.asarray(out / out.sum(axis=1, keepdims=True))


def _as_model(part: WeakTable, p: FloatArray, name: str) -> LabelModel:
    return LabelModel(
        name=name,
        classes=part.classes,
        weak=part.weak,
        predict=lambda _: p,
        rests_on=f"the label model {name} is right",
    )
