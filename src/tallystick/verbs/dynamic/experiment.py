"""Path benchmarks with real learners: section 5 of [SAH23]_, with the control that it lacks.

1. A base model is trained on everything; the items that it gets right are the population, which is
   thereby realisable.
2. Rollouts: train on the weighted items, mix in the errors, train again.
3. Control at the same price, for a population experiment buys no labels: as many models trained on
   the plain data.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array, majority_share
from tallystick.results import Interval, Unknown
from tallystick.verbs.dynamic.attempts import Attempts
from tallystick.verbs.dynamic.clusters import ClusteredRate, clustered_rate
from tallystick.verbs.dynamic.panel import forecast_panel, majority_risk


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Where rollouts run, and who is told. No number depends on it.

    Parameters
    ----------
    jobs
        Processes for joblib. Inside ``joblib.parallel_config(backend="dask")`` (or ``"ray"``) the
        rollouts leave this machine, and come back with the same numbers.
    progress
        Called with the number of finished rollouts: after each of them, or for all of them at the
        end where the backend hands everything over together (Ray's does).
    """

    jobs: int = 1
    progress: Callable[[int], None] | None = None


HERE = Execution()
"""In this process, telling nobody."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """What the learner did on the path and, at the same number of trainings, without it.

    Parameters
    ----------
    labels
        True labels of the population.
    kept
        Which of the given items are the population: those that the base model gets right.
    predictions, static_predictions
        (rollouts, rounds, items); *static_predictions* are of models trained on the plain data, and
        None without that control.
    """

    labels: Array
    kept: Array
    predictions: Array
    static_predictions: Array | None

    @property
    def path(self) -> Curves:
        """Curves of the path."""
        return curves(self.predictions, self.labels)

    @property
    def static(self) -> Curves | None:
        """Curves of the static ensemble."""
        if self.static_predictions is None:
            return None
        return curves(self.static_predictions, self.labels, trained_on_path=False)


def run_experiment(
    estimator: Any,
    features: Any,
    labels: Array,
    *,
    rounds: int,
    rollouts: int,
    rng: Rng,
    static: bool = True,
    execution: Execution = HERE,
) -> Experiment:
    """Run base model, realisable subset, rollouts and static control, all with one kind of
    classifier.

    Parameters
    ----------
    estimator
        A classifier in the manner of scikit-learn that honours ``sample_weight``; refused if it
        does not.
    features, labels
        All items.
    rounds, rollouts
        Models a rollout, and how many rollouts.
    static
        Whether to run the static control as well.
    execution
        Processes, and a function that is told of progress.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=1, max_features=1)
    >>> result = run_experiment(tree, X, y, rounds=3, rollouts=2, rng=0)
    >>> result.predictions.shape[:2], result.path.risk.shape
    ((2, 3), (2, 3))
    """
    truth = np.asarray(labels)
    generator = as_rng(rng)
    base = EstimatorTrainer(estimator, features, truth)
    equal = np.full(truth.size, 1 / truth.size)
    kept = base(equal, generator) == truth
    if np.unique(truth[kept]).size < 2:
        raise InputError(
            f"the base model gets only {int(kept.sum())} of {truth.size} items right, of fewer than"
            " two labels: choose a learner that can learn this"
        )
    trainer = EstimatorTrainer(estimator, features[kept], truth[kept])
    played = learner_rollouts(
        trainer,
        truth[kept],
        rounds=rounds,
        rollouts=rollouts,
        rng=generator,
        static=static,
        execution=execution,
    )
    return Experiment(
        labels=truth[kept], kept=kept, predictions=played[0], static_predictions=played[1]
    )


def learner_rollouts(
    trainer: Trainer,
    labels: Array,
    *,
    rounds: int,
    rollouts: int,
    rng: Rng,
    static: bool = True,
    execution: Execution = HERE,
) -> tuple[Array, Array | None]:
    """Run path rollouts of any :class:`Trainer`; return its predictions and those of the static
    control.
    """
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    if rounds < 1 or rollouts < 1:
        raise InputError(f"rounds and rollouts must be at least 1, got {rounds!r} and {rollouts!r}")
    truth = np.asarray(labels)
    generator = as_rng(rng)
    refuse_weight_blind(trainer, truth, seed=int(generator.integers(2**31)))
    work = (
        delayed(_rollout)(trainer, truth, rounds, static, each)
        for each in generator.spawn(rollouts)
    )
    one_by_one = get_active_backend()[0].supports_return_generator
    pairs = []
    for pair in Parallel(n_jobs=execution.jobs, return_as="generator" if one_by_one else "list")(
        work
    ):
        pairs.append(pair)
        if execution.progress is not None:
            execution.progress(len(pairs))
    controls = np.stack([control for _, control in pairs]) if static else None
    return np.stack([path for path, _ in pairs]), controls


def _rollout(
    trainer: Trainer, labels: Array, rounds: int, static: bool, rng: np.random.Generator
) -> tuple[Array, Array]:
    """One rollout and its control, each from its own stream, so that either is the same without the
    other.
    """
    on_path, on_plain = rng.spawn(2)
    equal = np.full(labels.size, 1 / labels.size)
    total = equal.copy()
    calls, plain = [], []
    for _ in range(rounds):
        calls.append(trainer(total / total.sum(), on_path))
        wrong = calls[-1] != labels
        if wrong.any():
            total += wrong / wrong.sum()
        if static:
            plain.append(trainer(equal, on_plain))
    return np.stack(calls), (
        np.stack(plain) if static else np.empty((0, labels.size), dtype=labels.dtype)
    )


# Real learners: any classifier that honours sample weights.


class Trainer(Protocol):
    """All that an experiment asks of a learner: train on weighted items, then label every item."""

    def __call__(self, weights: Array, rng: np.random.Generator) -> Array:
        """Train on the items with these weights (they sum to one); return the predicted label of
        every item.
        """
        ...


@dataclass(frozen=True, eq=False)
class EstimatorTrainer:
    """A classifier in the manner of scikit-learn, on given features: copied, seeded and fitted anew
    in each call.

    Parameters
    ----------
    estimator
        Anything with ``fit(X, y, sample_weight=...)`` and ``predict(X)``. Every parameter called
        ``random_state`` is set from the call's generator.
    features, labels
        The items.

    Examples
    --------
    >>> class Blind:
    ...     def fit(self, X, y):
    ...         return self
    >>> EstimatorTrainer(Blind(), np.zeros((4, 1)), np.array([0, 1, 0, 1]))
    Traceback (most recent call last):
    tallystick.errors.InputError: Blind.fit takes no sample_weight, so it cannot follow a dynamic benchmark: ...
    """

    estimator: Any
    features: Any
    labels: Array

    def __post_init__(self) -> None:
        parameters = inspect.signature(self.estimator.fit).parameters
        if "sample_weight" not in parameters and not any(
            p.kind is p.VAR_KEYWORD for p in parameters.values()
        ):
            raise InputError(
                f"{type(self.estimator).__name__}.fit takes no sample_weight, so it cannot follow a"
                " dynamic benchmark: choose a learner that does, or write a Trainer that resamples"
                " by weight"
            )

    def __call__(self, weights: Array, rng: np.random.Generator) -> Array:
        """Fit a fresh copy on the weighted items and predict them all."""
        model = fresh_copy(self.estimator, rng)
        # Mean one, as estimators expect: their regularisation is scaled for it.
        model.fit(self.features, self.labels, sample_weight=weights * len(self.labels))
        return np.asarray(model.predict(self.features))


def fresh_copy(estimator: Any, rng: np.random.Generator) -> Any:
    """Copy an unfitted estimator; every parameter called ``random_state``, its parts' too, is set
    from *rng*.
    """
    model = copy.deepcopy(estimator)
    if hasattr(model, "get_params"):
        seeds = {
            name: int(rng.integers(2**31 - 1))
            for name in sorted(model.get_params(deep=True))
            if name == "random_state" or name.endswith("__random_state")
        }
        if seeds:
            model.set_params(**seeds)
    return model


def refuse_weight_blind(trainer: Trainer, labels: Array, *, seed: int) -> None:
    """Refuse a learner that accepts weights and ignores them.

    A classifier with known features is asked a question that only weights can answer: the same
    features stand twice, under two labels, and nearly all weight lies on the one or on the other.
    Of a trainer that is a black box we only see its answers: it is trained with nearly all weight
    on each label in turn, and refused if it makes the same mistakes every time.

    >>> refuse_weight_blind(lambda weights, rng: np.array([0, 0]), np.array([0, 1]), seed=0)
    Traceback (most recent call last):
    tallystick.errors.InputError: the learner ignores sample weights: ...
    """
    classes, counts = np.unique(labels, return_counts=True)
    if classes.size < 2:
        raise InputError(f"labels need at least two classes, got {classes.tolist()}")
    if isinstance(trainer, EstimatorTrainer):
        some = np.sort(np.random.default_rng(seed).permutation(len(labels))[:100])
        asked = np.concatenate([some, some])
        truth = np.repeat(classes[:2], some.size)
        trainer = EstimatorTrainer(trainer.estimator, trainer.features[asked], truth)
        heavy = [truth == label for label in classes[:2]]
    else:
        truth = labels
        heavy = [labels == label for label in classes[np.argsort(-counts, kind="stable")[:5]]]
    answers = []
    for where in heavy:
        weights = np.where(where, 1.0, 1e-6)
        answers.append(trainer(weights / weights.sum(), np.random.default_rng(seed)))
    if all(np.array_equal(answers[0], answer) for answer in answers[1:]) and np.any(
        answers[0] != truth
    ):
        raise InputError(
            "the learner ignores sample weights: it makes the same mistakes whichever label has"
            " nearly all the weight; a dynamic benchmark would have no effect on it"
        )


# From predictions to curves: majority risk, plurality risk and excess risk by round, whoever made
# the predictions.
#
# Digits trees, a GPU's neural networks and a real log all end here: an array of predictions of
# shape (rollouts, rounds, items).


@dataclass(frozen=True, eq=False)
class Curves:
    """Rollouts in rows, rounds in columns, on equally weighted items.

    Parameters
    ----------
    risk
        Of the plurality vote of all models so far; ties are split by chance. With two labels it is
        the majority.
    binary_risk
        Of the binary majority, which knows only right from wrong: at least half of the models wrong
        (a tie counts 1/2).
    model_risk
        Of the round's own model.
    epsilon
        Of the round's own model, on the uniform mixture that it was trained on.
    """

    risk: Array
    binary_risk: Array
    model_risk: Array
    epsilon: Array


def curves(predictions: Array, labels: Array, *, trained_on_path: bool = True) -> Curves:
    """Follow the votes through the rounds.

    Parameters
    ----------
    predictions
        (rollouts, rounds, items), any labels.
    labels
        The true label of each item.
    trained_on_path
        Whether round t was trained on the uniform mixture of a path (else on the plain data, as a
        static control is).

    Examples
    --------
    >>> calls = np.array([[[0, 1, 2], [0, 1, 1], [0, 0, 1]]])
    >>> curves(calls, np.array([0, 1, 2])).risk.round(3).tolist()
    [[0.0, 0.167, 0.333]]
    """
    calls = np.asarray(predictions)
    truth = np.asarray(labels)
    if calls.ndim != 3 or calls.shape[2] != truth.size:
        raise InputError(
            f"predictions need the shape (rollouts, rounds, {truth.size}), got {calls.shape}"
        )
    errors = calls != truth
    classes = np.unique(np.concatenate([np.unique(calls), np.unique(truth)]))
    place, own = np.searchsorted(classes, calls), np.searchsorted(classes, truth)
    rollouts, rounds, items = calls.shape
    risk, binary, excess = (np.empty((rollouts, rounds)) for _ in range(3))
    for b in range(rollouts):
        votes = np.zeros((items, classes.size), dtype=np.int32)
        wrong = np.zeros(items)
        total = np.full(items, 1 / items)
        for t in range(rounds):
            votes[np.arange(items), place[b, t]] += 1
            top = votes == votes.max(axis=1, keepdims=True)
            risk[b, t] = np.mean(1 - top[np.arange(items), own] / top.sum(axis=1))
            wrong += errors[b, t]
            binary[b, t] = majority_share(wrong, t + 1).mean()
            excess[b, t] = (
                total / total.sum() if trained_on_path else np.full(items, 1 / items)
            ) @ errors[b, t]
            if errors[b, t].any():
                total = total + errors[b, t] / errors[b, t].sum()
    return Curves(risk=risk, binary_risk=binary, model_risk=errors.mean(axis=2), epsilon=excess)


def plurality(predictions: Array, labels: Array) -> Array:
    """Return where the plurality vote of these models is wrong: (..., items), ties split by chance.

    Parameters
    ----------
    predictions
        (..., models, items), any labels.
    labels
        The true label of each item.

    Examples
    --------
    >>> plurality(np.array([[0, 1, 2], [0, 1, 1], [0, 0, 1]]), np.array([0, 1, 2])).tolist()
    [0.0, 0.0, 1.0]
    >>> plurality(np.array([[0, 1, 2], [0, 0, 1]]), np.array([0, 1, 2])).tolist()
    [0.0, 0.5, 0.5]
    """
    calls, truth = np.asarray(predictions), np.asarray(labels)
    classes = np.unique(np.concatenate([np.unique(calls), np.unique(truth)]))
    votes = np.stack([(calls == label).sum(axis=-2) for label in classes], axis=-1)
    top = votes == votes.max(axis=-1, keepdims=True)
    return np.asarray(1 - (top & (truth[:, None] == classes)).any(axis=-1) / top.sum(axis=-1))


# Will two more rounds lower the risk? A forecast for the rounds of a path.
#
# It needs one held-out random set that no round trained on or collected from. On it, count for t
# rounds the share :math:`f_w` of items that w models get wrong, with :math:`m = (t+1)/2`. The last
# two rounds show how items at the edge of the vote move: of the :math:`n_w` items that were wrong
# by one vote before them, u were repaired by both; of the :math:`n_r` that were right by one vote,
# d were broken by both.
#
# The forecast decides little: on real learners "does it help at all" could be decided in 3 to 9 %
# of the cases. What was decided was wrong in at most 10 %. Planning a fixed number of rounds beats
# reacting to single steps (:mod:`tallystick.verbs.dynamic.experiment`).


PathDecision: TypeAlias = Literal["go on", "stop", "cannot tell"]

_LEVEL = 0.9
_Z = 1.6448536269514722
_FEWEST_ROUNDS = 3
FEWEST_ITEMS = 400
"""The smallest held-out set on which decisions were measured."""

_ONE_LEARNER = "the next two rounds retrain the same learner as the rounds so far"
_ANY_TEAM = "the next two rounds come from the same mixture of teams or model families"


@dataclass(frozen=True, kw_only=True)
class PathForecast:
    """What two more rounds would change, and whether that pays.

    Parameters
    ----------
    rounds, items
        t and n; an even number of rounds is forecast from the one before it.
    risk
        Share of held-out items that the majority of these rounds gets wrong.
    step
        The forecast from how the edge moved in the last two rounds (Q1); unknown below three.
    panel
        The forecast that takes the rounds for a panel of exchangeable models.
    variance
        v, the sampling variance of *step*.
    spread
        s, the panel's spread.
    interval
        The 90 % range of the gain in the population (Q3).
    pays
        The gain that pays, as the user stated it.
    decision
        ``go on``, ``stop`` or ``cannot tell``.
    reason
        Why it cannot be told, where that is not plain from the range.
    """

    rounds: int
    items: int
    risk: float
    step: float | Unknown
    panel: float | Unknown
    variance: float | Unknown
    spread: float | Unknown
    interval: Interval | Unknown
    pays: float
    decision: PathDecision
    reason: str | None = None


def forecast_path(errors: Array, *, pays: float = 0.0, one_learner: bool = True) -> PathForecast:
    r"""Forecast the gain in the population from two more rounds.

    With :math:`\hat u = (u+\frac12)/(n_w+1)`, :math:`\hat d = (d+\frac12)/(n_r+1)`, and the
    estimate eb and spread s of :func:`tallystick.verbs.dynamic.panel.forecast_panel`,

    .. math::
        \text{step} = f_m \hat u - f_{m-1} \hat d  \tag{Q1} \\
        v = \frac{f_m^2\, \hat u(1-\hat u)}{n_w+1} + \frac{f_{m-1}^2\, \hat d(1-\hat d)}{n_r+1}
            + \frac{f_m \hat u^2 + f_{m-1} \hat d^2}{n}  \tag{Q2} \\
        [\min(\text{step}, eb) - 1.645\,e,\; \min(\max(\text{step}, eb) + 1.645\,e,\;
            f_m + 1.645\sqrt{f_m/n})], \quad e = \sqrt{v + s^2/4}.  \tag{Q3}

    That holds for one learner that is retrained. Rounds of different teams or model families point
    in different directions: then :math:`e = \sqrt{v + s^2}` and :math:`t_{.95}(t-1)` replaces
    1.645 (at 1.7 to 2.6 times the width, usually "cannot tell").

    "Go on" is said for *pays* = 0 only: at .01 the few such decisions were wrong in up to all
    cases. "Stop" is said if the high end is below *pays*. Neither is said on fewer than 400 items,
    the smallest set on which it was measured.

    Parameters
    ----------
    errors
        Booleans of shape (rounds, items), one row per round in order, on the held-out set.
    pays
        The gain that two more rounds must bring to pay; 0 asks whether they help at all.
    one_learner
        False if the rounds were built by different teams or model families.

    Examples
    --------
    >>> seen = {"000": 60, "100": 6, "010": 5, "001": 9, "110": 4, "101": 3, "011": 3, "111": 10}
    >>> rows = [[int(digit) for digit in word] for word in seen for _ in range(seen[word])]
    >>> found = forecast_path(np.array(rows, dtype=bool).T)
    >>> round(found.step, 4), [round(end, 4) for end in found.interval]
    (0.0181, [-0.0258, 0.0436])
    >>> found.decision, found.reason
    ('cannot tell', 'the held-out set has 100 items, and at least 400 are needed')
    """
    wrong = np.asarray(errors, dtype=bool)
    if wrong.ndim != 2 or not wrong.size:
        raise InputError(f"errors need the shape (rounds, items), neither 0, got {wrong.shape}")
    if not 0 <= pays <= 1:
        raise InputError(f"pays, a fall of the risk, must be in [0, 1], got {pays!r}")

    # Even counts were not measured: ties make their last round nearly worthless anyway.
    rounds = len(wrong) - (1 - len(wrong) % 2)
    if rounds < _FEWEST_ROUNDS:
        return _too_short(wrong, pays)
    wrong = wrong[:rounds]
    items = wrong.shape[1]
    panel = forecast_panel(wrong)
    if isinstance(panel.gain, Unknown) or isinstance(panel.spread, Unknown):
        raise InputError(f"a path of {rounds} rounds has no panel forecast")  # excluded above

    step, variance, edge = _step(wrong)
    share, quantile = (0.25, _Z) if one_learner else (1.0, _student(rounds - 1))
    error = sqrt(variance + share * panel.spread**2)
    low = min(step, panel.gain) - quantile * error
    # No new round repairs more than the items at the edge, up to the sampling error of that share.
    high = min(max(step, panel.gain) + quantile * error, edge + _Z * sqrt(edge / items))  # (Q3)
    interval = Interval(
        min(low, high),
        high,
        level=_LEVEL,
        guarantee="under",
        assumption=_ONE_LEARNER if one_learner else _ANY_TEAM,
        method="last step and panel",
    )
    decision, reason = _decide(interval, pays, items)
    return PathForecast(
        rounds=rounds,
        items=items,
        risk=panel.risk,
        step=step,
        panel=panel.gain,
        variance=variance,
        spread=panel.spread,
        interval=interval,
        pays=pays,
        decision=decision,
        reason=reason,
    )


def _step(wrong: Array) -> tuple[float, float, float]:
    """Return (Q1), (Q2) and the share of items that are wrong by one vote."""
    rounds, items = wrong.shape
    m = (rounds + 1) // 2
    total = wrong.sum(axis=0)
    share = np.bincount(total, minlength=rounds + 1) / items
    earlier, later = wrong[:-2].sum(axis=0), wrong[-2:].sum(axis=0)

    # Before the last two rounds an item was wrong by one vote at (t-1)/2, right by one at (t-3)/2.
    just_wrong, just_right = earlier == m - 1, earlier == m - 2
    n_wrong, n_right = int(just_wrong.sum()), int(just_right.sum())
    up = ((just_wrong & (later == 0)).sum() + 0.5) / (n_wrong + 1)
    down = ((just_right & (later == 2)).sum() + 0.5) / (n_right + 1)

    high, low = share[m], share[m - 1]
    step = high * up - low * down  # (Q1)
    variance = (
        high**2 * up * (1 - up) / (n_wrong + 1)
        + low**2 * down * (1 - down) / (n_right + 1)
        + (high * up**2 + low * down**2) / items
    )  # (Q2)
    return float(step), float(variance), float(high)


def _decide(interval: Interval, pays: float, items: int) -> tuple[PathDecision, str | None]:
    if items < FEWEST_ITEMS:
        short = f"the held-out set has {items} items, and at least {FEWEST_ITEMS} are needed"
        return "cannot tell", short
    if interval.high < pays:
        return "stop", None
    if interval.low > pays:
        if pays == 0:
            return "go on", None
        return "cannot tell", "the range is above the gain that pays, but such ranges often failed"
    return "cannot tell", None


def _too_short(wrong: Array, pays: float) -> PathForecast:
    reason = f"a forecast needs at least {_FEWEST_ROUNDS} rounds, got {len(wrong)}"
    unknown = Unknown(reason)
    return PathForecast(
        rounds=len(wrong),
        items=wrong.shape[1],
        risk=majority_risk(wrong.sum(axis=0), len(wrong)),
        step=unknown,
        panel=unknown,
        variance=unknown,
        spread=unknown,
        interval=unknown,
        pays=pays,
        decision="cannot tell",
        reason=reason,
    )


def _student(free: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(free, 0.95))


# Does an item that fooled one model fool others? Error rates of models outside the loop.
#
# The model in the loop is wrong on its own round's items by design: they were kept for that. Only
# the other models' rate on those items is informative,
#
# .. math:: \text{transfer} = \frac{\text{validated items of the round that another model gets
# wrong}}
#           {\text{validated items of the round that it answered}}  \tag{T1}
#
# with the interval of :mod:`tallystick.verbs.dynamic.clusters`, because one annotator's items are
# alike.


@dataclass(frozen=True, kw_only=True)
class TransferRate:
    """How often a round's validated items fool a model that was not in its loop.

    Parameters
    ----------
    rate
        The share (T1) with its interval, or the reason why there is none.
    """

    round: Any
    model: str
    rate: ClusteredRate | Unknown


def transfer(
    log: Attempts, wrong: Mapping[str, Array], *, alpha: float = 0.05
) -> tuple[TransferRate, ...]:
    """Return the error rate of every model on the rounds that were not collected against it.

    Parameters
    ----------
    log
        Needs *model*, so that the models in the loop are left out of their own rounds.
    wrong
        Model to one entry per attempt: 1 wrong, 0 right, anything else (NaN, -1) not answered.

    Examples
    --------
    >>> log = Attempts(
    ...     annotator=np.array([1, 1, 2, 2]), round=np.array([1, 1, 1, 1]), fooled=np.ones(4),
    ...     model=np.array(["a"] * 4), valid=np.array([True] * 4),
    ... )
    >>> (only,) = transfer(log, {"a": np.ones(4), "b": np.array([1, 0, 0, 0])})
    >>> only.model, only.rate.rate
    ('b', 0.25)
    """
    if log.model is None:
        raise InputError("the log does not name the model in the loop: transfer needs that column")
    for name, answers in wrong.items():
        if np.asarray(answers).shape != (log.size,):
            raise InputError(f"wrong[{name!r}] needs one entry per attempt, {log.size}")

    out = []
    for number in log.rounds:
        here = log.within(number)
        in_loop = set(map(str, np.unique(log.model[here])))
        for name, answers in wrong.items():
            if str(name) in in_loop:
                continue
            known = here & log.success & np.isin(answers, (0, 1))
            if not known.any():
                rate: ClusteredRate | Unknown = Unknown(
                    "it answered no validated item of the round"
                )
            else:
                failed = log.per_annotator(known, np.asarray(answers) == 1)
                rate = clustered_rate(failed, log.per_annotator(known), alpha=alpha)
            out.append(TransferRate(round=log.name_of(number), model=str(name), rate=rate))
    return tuple(out)


# How many rounds should a campaign have? Plan it from the price, do not react to single steps.


MEASURED_GAINS: dict[int, tuple[float, float, float]] = {
    3: (0.0, 0.0, 0.0),
    5: (0.145, 0.162, 0.079),
    7: (0.245, 0.230, 0.136),
    9: (0.302, 0.331, 0.178),
}
"""Share of the risk after three rounds that was gone after so many rounds, on three sets of
campaigns: 200 and 172 of real learners, and 240 simulated ones (docs/benchmarks/dynamic.md).
Longer campaigns of real learners were not measured."""


@dataclass(frozen=True, kw_only=True)
class PathPlan:
    """How many rounds to run in all, decided beforehand.

    Parameters
    ----------
    rounds
        The length with the highest mean net gain over the measured sets.
    price
        Of one round, as a share of the risk after three rounds.
    net
        Length to net gain (gain minus price) on each of the measured sets.
    longest
        True if the best length is the longest that was measured: more might be better still.
    """

    rounds: int
    price: float
    net: dict[int, tuple[float, ...]]
    longest: bool


def plan_rounds(price: float) -> PathPlan:
    r"""Plan a fixed number of rounds from what one costs, instead of reacting to single steps.

    The net gain of T rounds is :math:`G_T - c\,(T-3)` in shares of the risk after three rounds,
    with the gains :math:`G_T` of :data:`MEASURED_GAINS` and c the price of a round. At c = .025
    and on real learners, the fixed lengths 7 and 9 gained .13 to .18, "while the last step gained"
    .06 to .10 and "while proved" .04 to .06. On the simulated campaigns all of them lay within .03
    to .05. Which fixed length is best was known only in hindsight, so take the number as a guide.

    Parameters
    ----------
    price
        What a round costs, divided by what it would be worth to bring the risk after three rounds
        to zero.

    Examples
    --------
    >>> plan_rounds(0.025).rounds, plan_rounds(0.05).rounds, plan_rounds(0.2).rounds
    (9, 5, 3)
    """
    if not (isfinite(price) and price >= 0):
        raise InputError(f"price must be finite and not negative, got {price!r}")
    net = {
        rounds: tuple(gain - price * (rounds - 3) for gain in gains)
        for rounds, gains in MEASURED_GAINS.items()
    }
    best = max(net, key=lambda rounds: sum(net[rounds]))
    return PathPlan(rounds=best, price=price, net=net, longest=best == max(net))
