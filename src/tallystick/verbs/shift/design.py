"""From items and a budget to a plan: which strata, which policy, what an answer counts for."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import BudgetError, InputError
from tallystick.papers.api_shifts import (
    allocation_loss,
    confusion_matrix,
    optimal_allocation,
    optimal_loss,
    partitions,
    proportional_allocation,
    uncertainty,
    uncertainty_score,
    uniform_loss,
)
from tallystick.sampling import (
    FAILED,
    Budget,
    Equal,
    Flips,
    Masa,
    Plan,
    Policy,
    Proportional,
    Strata,
    Uniform,
    history_cells,
)
from tallystick.stats.exact_tails import whole
from tallystick.verbs.shift.result import Stratum
from tallystick.verbs.shift.verdict import stratum_name

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
    cells = Strata(partitions(items.truth, rank, bins=bins))
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


# Where the calls went, against the optimum, and what plain sampling would have given.


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
POINTS, LINES = 40, 12
"""How much of the path a picture shows."""


def strata_rows(
    items: Items, strata: Strata, asked: IntArray, codes: IntArray
) -> tuple[Stratum, ...]:
    """Return every stratum, with the optimal allocation at the uncertainty that was seen."""
    of = strata.of[asked]
    told = codes != FAILED
    number = len(strata)
    flips = None
    if items.old is not None:
        flips = np.bincount(of[told & (codes != items.old[asked])], minlength=number)
    sigma = _sigma(items, strata, asked, codes)
    best = optimal_allocation(strata.shares, sigma, calls=len(asked))
    n, m = np.bincount(of, minlength=number), np.bincount(of[told], minlength=number)
    return tuple(
        Stratum(
            name=name,
            items=int(strata.sizes[k]),
            asked=int(n[k]),
            answered=int(m[k]),
            flips=None if flips is None else int(flips[k]),
            optimal=round(float(best[k]), 1),
        )
        for k, name in enumerate(_names(items, strata))
    )


def allocation_path(
    items: Items, strata: Strata, asked: IntArray, codes: IntArray
) -> dict[str, list[Any]]:
    """Return how often the largest strata were asked, by question: figure 4 (g) of [CZZ22]_."""
    names = _names(items, strata)
    largest = np.sort(np.argsort(-strata.sizes, kind="stable")[:LINES])
    best = optimal_allocation(strata.shares, _sigma(items, strata, asked, codes), calls=len(asked))
    at = np.unique(np.linspace(1, len(asked), min(POINTS, len(asked))).astype(int))
    path: dict[str, list[Any]] = {"question": [], "asked": [], "stratum": [], "optimal": []}
    for k in largest:
        done = np.cumsum(strata.of[asked] == k)
        for question in at:
            path["question"].append(int(question))
            path["asked"].append(int(done[question - 1]))
            path["stratum"].append(f"{k}: {names[k]}")
            path["optimal"].append(round(float(best[k]), 1) if question == at[-1] else None)
    return path


def baselines(items: Items, strata: Strata, asked: IntArray, codes: IntArray) -> dict[str, float]:
    r"""Return the squared Frobenius error that plain sampling would have with as many answers.

    Uniform: :math:`(1 - \varphi)(1 - \sum C_{ij}^2)/n`. Proportional over the paper's cells (true
    label by third of confidence): :math:`(1 - \varphi) \sum p_k \sigma_k^2/n`. Optimal, over the
    same cells: Lemma 1's :math:`(\sum p_k \sigma_k)^2/n`, with replacement as in the paper. The
    distribution of answers in every cell is read from the answers, each weighted by the items that
    it stands for.
    """
    told = codes != FAILED
    asked, codes = asked[told], codes[told]
    weight = (strata.shares / np.maximum(np.bincount(strata.of[asked], minlength=len(strata)), 1))[
        strata.of[asked]
    ]
    rank = np.zeros(len(items)) if items.confidence is None else items.confidence
    cells = Strata(partitions(items.truth, rank, bins=1 if items.confidence is None else 3))
    J = len(items.labels) + 1
    table = np.bincount(
        cells.of[asked] * J + codes, weights=weight, minlength=len(cells) * J
    ).reshape(-1, J)
    total = table.sum(axis=1, keepdims=True)
    share = np.where(total > 0, table / np.where(total > 0, total, 1.0), np.eye(J)[0])
    sigma2 = uncertainty_score(share / share.sum(axis=1, keepdims=True))
    n, p = len(asked), cells.shares
    flat = np.bincount(items.flat(np.zeros(len(items), np.intp))[asked] + codes, weights=weight)
    left = 1 - n / len(items)
    return {
        "uniform": left * uniform_loss(flat, calls=n),
        "proportional": left * allocation_loss(p, sigma2, proportional_allocation(p, calls=n)),
        "optimal": optimal_loss(p, np.sqrt(sigma2), calls=n),
    }


def _sigma(items: Items, strata: Strata, asked: IntArray, codes: IntArray) -> FloatArray:
    """Return the root of each stratum's uncertainty, of changes where old answers are known."""
    told = codes != FAILED
    of, codes, asked = strata.of[asked][told], codes[told], asked[told]
    width = len(items.labels) + 1
    flat = items.truth[asked] * width + codes
    # A change is a pair (old, new); all that did not change is one outcome.
    if items.old is not None:
        flat = np.where(codes == items.old[asked], -1, flat * width + items.old[asked])
    seen, code = np.unique(flat, return_inverse=True)
    table = np.zeros((len(strata), len(seen)))
    np.add.at(table, (of, code), 1)
    return np.asarray(np.sqrt(np.nan_to_num(uncertainty(table), nan=1.0)))


def _names(items: Items, strata: Strata) -> list[str]:
    """Name every stratum by what its items have in common."""
    order = np.argsort(strata.of, kind="stable")
    return [_name(items, part) for part in np.split(order, np.cumsum(strata.sizes)[:-1])]


def _name(items: Items, part: IntArray) -> str:
    old = None
    if items.old is not None:
        before = np.unique(items.old[part])
        right = items.old[part] == items.truth[part]
        old = (
            f"was {items.columns[before[0]]}"
            if len(before) == 1
            else "was wrong"
            if not right.any()
            else "mixed"
        )
    span = None
    if items.confidence is not None:
        span = float(items.confidence[part].min()), float(items.confidence[part].max())
    labels = [items.labels[code] for code in np.unique(items.truth[part])]
    return stratum_name(labels, old, span)


# Intervals for sums of flips that were sampled adaptively, without replacement, from strata.
#
# A *sum* is θ = Σ p_k f_k over the strata where an event is possible, of mass m: the share of items
# that flipped, that became right, that moved into a cell of the matrix. With X events among n
# answers of a stratum, w = p/n, φ = n/N_k,
#
# .. math::
#
#    est = \sum w X, \quad \bar f = est/m, \quad \tilde f = \frac{X + \bar f}{n + 1}, \quad
#    v = \sum p^2 (1 - \varphi) \frac{\tilde f (1 - \tilde f)}{n}, \quad
#    w^+ = \max_k w_k \frac{\varphi}{-\ln(1 - \varphi)}   \tag{I1}
#
# (w⁺ is what one more event, not yet seen, would add: 0 where a stratum is exhausted). All divided
# by m,
#
# .. math::
#
#    upper &= B^{-1}(1 - \tfrac\alpha2;\; e' n', (1 - e') n'), \quad e' = est + w^+,\; v' = v +
# (w^+)^2,\;
#             n' = e'(1 - e')/v' \\
#    lower &= B^{-1}(\tfrac\alpha2;\; est\, n^*, n^* (1 - est) + 1), \quad n^* = est (1 - est)/v
# \tag{I2}
#
# with B⁻¹ the beta quantile, lower = 0 without an event, and the complement where est > 1/2.
# docs/theory/shift.md, *Intervals*. Everything is element by element over leading axes; strata are
# the last one.


BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class StratumSample:
    """What was answered in every stratum, along the last axis.

    Parameters
    ----------
    shares
        p, the part of all items in the stratum.
    answered
        n, at least 1 in every stratum.
    fraction
        φ, the part of the stratum that was answered.
    """

    shares: FloatArray
    answered: FloatArray
    fraction: FloatArray

    @property
    def by_event(self) -> StratumSample:
        """The same with an axis before the strata, for several events of each run."""
        return StratumSample(self.shares, self.answered[..., None, :], self.fraction[..., None, :])


@dataclass(frozen=True, eq=False)
class SumBounds:
    """A sum with its interval, its variance v, and the smoothed rates of its strata."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    variance: FloatArray
    rate: FloatArray


def sum_bounds(
    events: FloatArray, sample: StratumSample, *, alpha: float, possible: BoolArray | None = None
) -> SumBounds:
    """Return θ and its interval (I2) from the *events* of every stratum.

    Parameters
    ----------
    events
        X, shape (…, S).
    sample
        n, p and φ, broadcast against *events*.
    alpha
        One minus the level.
    possible
        In which strata the event can happen at all; None means everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> seen = StratumSample(np.array([0.7, 0.3]), np.array([70.0, 30.0]), np.array([0.1, 0.1]))
    >>> bounds = sum_bounds(np.array([0.0, 3.0]), seen, alpha=0.05)
    >>> print(f"{bounds.value:.3f} [{bounds.low:.4f}, {bounds.high:.4f}]")
    0.030 [0.0075, 0.0818]
    """
    where = np.ones(events.shape[-1], bool) if possible is None else possible
    p = np.where(where, sample.shares, 0.0)
    mass = p.sum(axis=-1)
    safe = np.where(mass > 0, mass, 1.0)
    n, phi = sample.answered, sample.fraction
    est = (p * events / n).sum(axis=-1) / safe
    rate = np.where(where, (events + est[..., None]) / (n + 1), 0.0)  # f̃
    spread = np.where(where, p**2 * (1 - phi) / n, 0.0) / safe[..., None] ** 2
    v = (spread * rate * (1 - rate)).sum(axis=-1)  # (I1); 0 <= rate <= 1
    with np.errstate(divide="ignore", invalid="ignore"):
        unseen = np.where(phi >= 1, 0.0, np.where(phi > 0, phi / -np.log1p(-phi), 1.0))
    more = (p / n * unseen).max(axis=-1) / safe  # w⁺
    flip = est > 0.5
    share = np.where(flip, 1 - est, est)
    # X -> n - X gives the rate (n - X + 1 - f̄)/(n + 1) = 1 - f̃, so v is its own complement.
    low, high = _ends(share, v, more, alpha)
    ends = np.where(flip, 1 - high, low), np.where(flip, 1 - low, high)
    some = mass > 0
    return SumBounds(
        est * safe * some,
        ends[0] * safe * some,
        ends[1] * safe * some,
        v * safe**2 * some,
        rate * some[..., None],
    )


def _ends(
    est: FloatArray, v: FloatArray, more: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return (I2) for est <= 1/2, all already divided by the mass."""
    from scipy.special import betaincinv

    e = est + more
    spread = v + more**2
    fits = (e < 1) & (spread > 0) & (spread < e * (1 - e))
    n = np.where(fits, e * (1 - e) / np.where(fits, spread, 1.0), 1.0)
    inner = np.where(fits, e, 0.5)
    high = np.where(
        fits, betaincinv(inner * n, (1 - inner) * n, 1 - alpha / 2), np.where(spread > 0, 1.0, est)
    )
    seen = (est > 0) & (v > 0)
    m = np.where(seen, est * (1 - est) / np.where(seen, v, 1.0), 1.0)
    share = np.where(seen, est, 0.5)
    low = np.where(
        seen, betaincinv(share * m, m * (1 - share) + 1, alpha / 2), np.where(v > 0, 0.0, est)
    )
    return np.minimum(low, est), np.maximum(high, est)


def minus(gain: SumBounds, loss: SumBounds, sample: StratumSample) -> SumBounds:
    r"""Return the difference of two sums over the same answers, by MOVER.

    .. math:: low = g - q - \sqrt{(g - l_g)^2 + (u_q - q)^2 - 2 r (g - l_g)(u_q - q)}   \tag{I3}

    and likewise high, with r the correlation that :math:`cov = -\sum p^2 (1 - \varphi) f_g f_q / n`
    makes: no item can both gain and lose.
    """
    cov = -(sample.shares**2 * (1 - sample.fraction) / sample.answered * gain.rate * loss.rate).sum(
        axis=-1
    )
    scale = np.sqrt(gain.variance * loss.variance)
    r = np.clip(np.where(scale > 0, cov / np.where(scale > 0, scale, 1.0), 0.0), -1.0, 0.0)

    def length(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(a**2 + b**2 - 2 * r * a * b))

    value = gain.value - loss.value
    low = value - length(gain.value - gain.low, loss.high - loss.value)  # (I3)
    high = value + length(gain.high - gain.value, loss.value - loss.low)
    variance = gain.variance + loss.variance - 2 * cov
    return SumBounds(value, np.maximum(low, -1.0), np.minimum(high, 1.0), variance, gain.rate)


# What is known before a call is paid for: items, their true labels and their old answers.


OTHER = "(other)"
"""Heading of the last column: answers that were empty, refused, unparsable, or no label of the set.
"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Items:
    """Labelled items, as codes. A true label is a code 0 … L - 1; an answer may also be L, "none of
    the labels".

    Parameters
    ----------
    labels
        The L labels.
    truth
        The true label of every item.
    old
        The old answer to every item; None if only a matrix of the past is known, or nothing.
    matrix
        The old confusion matrix as shares of all items, shape (L, L + 1); None if nothing is known
        of the past.
    confidence
        Any score whose ranking predicts which answers will change (the old API's confidence, or a
        cheap model's); None if there is none.
    names
        The name of every item.
    labelled
        Whether *truth* holds true labels. If not, it holds the old answers: the matrix then says
        which answers moved where, and nothing is said about accuracy.
    unclear
        Which old answers count as none of the labels although their text may hold one; None if all
        were read.

    Examples
    --------
    >>> items = Items.of(["cat", "dog", "dog"], old=["cat", "cat", ""])
    >>> items.labels, items.old
    (('cat', 'dog'), array([0, 0, 2]))
    >>> items.matrix
    array([[0.33333333, 0.        , 0.        ],
           [0.33333333, 0.        , 0.33333333]])
    """

    labels: tuple[str, ...]
    truth: IntArray
    old: IntArray | None
    matrix: FloatArray | None
    confidence: FloatArray | None
    names: tuple[str, ...]
    labelled: bool = True
    unclear: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        truth: Sequence[Any],
        *,
        old: Sequence[Any] | None = None,
        matrix: ArrayLike | None = None,
        confidence: ArrayLike | None = None,
        labels: Sequence[Any] | None = None,
        other: Sequence[Any] = (),
        names: Sequence[Any] | None = None,
    ) -> Items:
        """Code labels and refuse what does not fit.

        Parameters
        ----------
        truth, old
            One value per item; labels are compared as text. A blank old answer, or one of *other*,
            is "none of them".
        matrix
            The old confusion matrix, (L, L) or (L, L + 1), as counts or shares; its rows must have
            the shares of the true labels.
        confidence, names
            As in the class; names default to 0, 1, 2 …
        labels
            The labels, in the order wanted; None means those of *truth*, sorted.
        """
        if not len(truth):
            raise InputError("truth is empty: there must be items to ask about")
        found = [_text(value) for value in truth]
        if "" in found:
            raise InputError(
                f"truth is blank for item {found.index('')}: every item needs its true label"
            )
        chosen = sorted(set(found)) if labels is None else [_text(label) for label in labels]
        if len(set(chosen)) != len(chosen) or "" in chosen:
            raise InputError(f"labels must be different and not blank, got {chosen}")
        code = {label: j for j, label in enumerate(chosen)}
        true = _coded(found, code, "truth", "name all labels (labels=…)")
        before = None
        if old is not None:
            if len(old) != len(true):
                raise InputError(
                    f"old must have one answer per item, got {len(old)} for {len(true)} items"
                )
            with_other = {**code, "": len(chosen), **{_text(token): len(chosen) for token in other}}
            before = _coded(
                [_text(v) for v in old], with_other, "old", "name all labels, or list it as 'other'"
            )
        past = None if matrix is None else _matrix(matrix, true, chosen)
        if before is not None:
            counted = confusion_matrix(true, before, shape=(len(chosen), len(chosen) + 1))
            if past is not None and np.abs(past - counted).max() > 0.5 / len(true):
                raise InputError(
                    "matrix does not agree with the old answers by item: give one of the two"
                )
            past = counted
        rank = None if confidence is None else np.asarray(confidence, dtype=np.float64)
        if rank is not None and (rank.shape != true.shape or not np.isfinite(rank).all()):
            raise InputError(
                f"confidence must hold a finite number for each of the {len(true)} items"
            )
        given = tuple(map(str, range(len(true)))) if names is None else tuple(map(str, names))
        if len(given) != len(true) or len(set(given)) != len(given):
            raise InputError(f"names must be {len(true)} different names, got {len(set(given))}")
        return cls(
            labels=tuple(chosen), truth=true, old=before, matrix=past, confidence=rank, names=given
        )

    def __len__(self) -> int:
        return len(self.truth)

    def part(self, places: IntArray) -> Items:
        """Return some of the items, in this order, with the matrix of their own old answers."""
        truth = self.truth[places]
        old = None if self.old is None else self.old[places]
        L = len(self.labels)
        return Items(
            labels=self.labels,
            truth=truth,
            old=old,
            matrix=None if old is None else confusion_matrix(truth, old, shape=(L, L + 1)),
            confidence=None if self.confidence is None else self.confidence[places],
            names=tuple(self.names[place] for place in places),
            labelled=self.labelled,
            unclear=None if self.unclear is None else self.unclear[places],
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Headings of the matrix: the labels and the column of all else."""
        return (*self.labels, OTHER)

    @cached_property
    def mass(self) -> FloatArray:
        """The share of items with each true label."""
        return np.bincount(self.truth, minlength=len(self.labels)) / len(self)

    def flat(self, answers: IntArray) -> IntArray:
        """Return (true, answer) of every item as one code, row by row of the matrix."""
        return self.truth * (len(self.labels) + 1) + answers

    def code(self, answer: str | None) -> int:
        """Return the code of one answer; anything that is not a label is "none of them"."""
        return self._codes.get("" if answer is None else answer.strip(), len(self.labels))

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: j for j, label in enumerate(self.labels)}

    @cached_property
    def digest(self) -> str:
        """A digest of all of it, so that a journal is not continued on other data."""
        digest = hashlib.sha256("\x1f".join((*self.labels, "\x1e", *self.names)).encode())
        for part in (self.truth, self.old, self.matrix, self.confidence):
            digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()


def _text(value: Any) -> str:
    """Labels are compared as text; a missing one (None, NaN) is blank."""
    return "" if value is None or value != value else str(value).strip()


def _coded(values: Sequence[str], code: dict[str, int], name: str, remedy: str) -> IntArray:
    for place, value in enumerate(values):
        if value not in code:
            known = ", ".join(label for label in list(code)[:8] if label)
            raise InputError(
                f"{name} of item {place} is {value!r}, which is not among the labels {known}:"
                f" {remedy}"
            )
    return np.array([code[value] for value in values], dtype=np.intp)


def _matrix(matrix: ArrayLike, truth: IntArray, labels: Sequence[str]) -> FloatArray:
    table = np.asarray(matrix, dtype=np.float64)
    L = len(labels)
    if table.shape not in ((L, L), (L, L + 1)):
        raise InputError(
            f"matrix must be {L} x {L} (or {L} x {L + 1}) for the labels {list(labels)}, got"
            f" {table.shape}"
        )
    if not np.isfinite(table).all() or (table < 0).any() or not table.sum():
        raise InputError("matrix must hold counts or shares: finite, not negative, not all zero")
    table = np.hstack([table, np.zeros((L, L + 1 - table.shape[1]))]) / table.sum()
    mass = np.bincount(truth, minlength=L) / len(truth)
    apart = np.abs(table.sum(axis=1) - mass)
    if apart.max() > 1e-3:
        row = int(apart.argmax())
        raise InputError(
            f"matrix has {table[row].sum():.4f} of its mass on true label {labels[row]!r}, the data"
            f" {mass[row]:.4f}: it was measured on other data, or its rows are not the true labels"
            " (transpose it)"
        )
    return np.asarray(table)


# The numbers that noisy shift rests on, in one place, each with its reason.
#
# They were measured together (docs/theory/shift.md): change one only with a new measurement
# (``benchmarks/truth/shift_noise.py``).


BLIND_SHARE = 0.7
"""Share of the budget that is drawn proportionally, without regard to answers.

With .6 the flip rate covered .904 on real version changes, with .7 and the whole hull .942.
"""
FLIP_HULL = 1.0
"""Part of δ, the gap to the blind estimate, by which a flip rate and its interval move."""
ACCURACY_HULL = 0.5
"""Part of δ by which the interval of an accuracy (or a mean grade) is stretched."""
REPEAT_SHARE, FEWEST_REPEATS = 0.1, 30
"""Flips that are asked again: a tenth of the budget, at least 30."""
CLEAN_REPEATS = 30
"""If this many repeats all confirm, the API shows no noise and repeating stops."""
CHANCE_REFUTED = 0.05
"""Below this p-value the repeats refute that chance explains every flip between right and wrong.

Until then λ of the accuracy is 1. An estimated λ is below 1 in a third of all runs on an unchanged
API, by luck alone, and its narrower interval then says "changed" too often: with every item asked
in .052 of runs, with this rule in .047 (8 simulated populations, 900 runs each); the power against
a change of 3 points goes from .460 to .447. Adding two standard errors to λ instead of one leaves
.049 and .439.
"""
WIDELY_ASKED = 0.2
"""From this share of items on, an interval with λ < 1 leans on "the old API was as noisy"."""


def repeats_planned(budget: int) -> int:
    """Return how many flips to ask again at most: max(30, budget/10).

    Examples
    --------
    >>> repeats_planned(200), repeats_planned(1000)
    (30, 100)
    """
    whole(1, budget=budget)
    return max(FEWEST_REPEATS, budget // round(1 / REPEAT_SHARE))


def more_repeats(repeated: int, unconfirmed: int, *, budget: int) -> bool:
    """Say whether the next flip of the blind phase should be asked again.

    Flips are repeated in the order in which they were asked, which must be uniformly random over
    the blind items: in proportional order large strata come first and noise looks like change.

    Parameters
    ----------
    repeated, unconfirmed
        Repeats so far, and how many of them did not give the flipped answer again.
    budget
        Calls in all; repeats count against it.

    Examples
    --------
    >>> more_repeats(29, 0, budget=1000), more_repeats(30, 0, budget=1000)
    (True, False)
    >>> more_repeats(30, 1, budget=1000), more_repeats(100, 1, budget=1000)
    (True, False)
    """
    whole(0, repeated=repeated, unconfirmed=unconfirmed)
    if repeated >= CLEAN_REPEATS and not unconfirmed:
        return False
    return repeated < repeats_planned(budget)
