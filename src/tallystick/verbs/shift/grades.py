r"""Graded shift: answers are scored on [0, 1] (0/1, or 1-5 rescaled) instead of labelled.

Strata are made from the old grade; a flip is a grade that changed; with d = new - old grade, gains
are max(d, 0) and losses max(-d, 0). In (I1) the variance f̃(1 - f̃) becomes

.. math:: \frac{\sum X^2 + \bar q}{n + 1} - \tilde f^2   \tag{N7}

with q̄ the pooled second moment (cut at 0), and w⁺ is multiplied by the largest |d| seen (1 if
none). The noise term is :math:`z^2 λ (D_2 + 1/M)/M` under both roots, with
:math:`D_2 = \sum p_k\, \overline{d^2}` and

.. math::

   λ = \min(1, 2ρ), \quad ρ = \frac{\sum w h + q/2}{\sum w d^2 + q}, \quad
   h = ½ (g_1 - g_2)^2 (1 + [g_2 = o]), \quad q = \overline{d^2} \text{ of the repeats}   \tag{N8}

docs/theory/shift.md, *Change, or chance?*.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.clients import Client, Reply
from tallystick.errors import InputError
from tallystick.results import Interval, Json
from tallystick.sampling import FAILED, Strata
from tallystick.verbs.shift.design import ACCURACY_HULL, StratumSample, SumBounds, minus
from tallystick.verbs.shift.noise import collapse, repeats_of
from tallystick.verbs.shift.noisy import blind_gap, one_more, stretched, sum_ends, widened
from tallystick.verbs.shift.result import Change, ShiftResult
from tallystick.verbs.shift.verdict import Facts, decide, opening_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class GradedAnswers:
    """New grades of the items asked.

    Parameters
    ----------
    asked
        Items, by number.
    grade
        The new grade of each, in [0, 1].
    blind
        Which were chosen without regard to answers; None if all were.
    """

    asked: IntArray
    grade: FloatArray
    blind: BoolArray | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class GradeMoves:
    """Sums of gains and losses by stratum, with their squares.

    Parameters
    ----------
    gain, loss, gain_square, loss_square
        Sums over the answers of each stratum.
    can_gain, can_lose
        Strata with an old grade below 1, and above 0.
    largest
        The largest |d| seen; 1 if no grade changed.
    """

    gain: FloatArray
    loss: FloatArray
    gain_square: FloatArray
    loss_square: FloatArray
    can_gain: BoolArray
    can_lose: BoolArray
    largest: float

    @property
    def net(self) -> FloatArray:
        """Gains minus losses."""
        return self.gain - self.loss

    def second_moment(self, sample: StratumSample) -> float:
        """Return D₂: the mean of d² over all items."""
        square = (self.gain_square + self.loss_square) / sample.answered
        return float((sample.shares * square).sum())


def graded_change(
    strata: Strata, old: ArrayLike, answers: GradedAnswers, *, share: float, alpha: float = 0.05
) -> SumBounds:
    """Bound the change of the mean grade on these items, over fresh noise.

    Parameters
    ----------
    strata
        By old grade.
    old
        The old grade of every item, in [0, 1].
    answers
        New grades; every stratum needs at least one.
    share
        λ, :func:`grade_noise_share`; 1 needs no assumption, 0 is for a deterministic API.
    alpha
        One minus the level.

    Examples
    --------
    >>> old = np.repeat([0.5, 1.0], [60, 40])
    >>> asked = np.r_[0:30, 60:80]
    >>> d = np.r_[[.25] * 3, [-.25] * 2, -.5, [0] * 24, [-.25] * 4, -1, [0] * 15]
    >>> answers = GradedAnswers(asked=asked, grade=old[asked] + d)
    >>> found = graded_change(Strata(np.repeat([0, 1], [60, 40])), old, answers, share=1)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    -0.0450 [-0.1216, 0.0282]
    """
    before = _grades(old, strata.n_items, "old")
    moves, sample = grade_moves(strata, before, answers)
    items = strata.n_items
    noise = share * (moves.second_moment(sample) + 1 / items) / items
    found = graded_bounds(moves, sample, noise=noise, alpha=alpha)
    return blind_stretched(found, strata, before, answers)


def graded_bounds(
    moves: GradeMoves, sample: StratumSample, *, noise: float, alpha: float
) -> SumBounds:
    """Bound gains minus losses of grades, with the variance *noise* of fresh answers added."""
    gain = _sum(moves.gain, moves.gain_square, sample, moves.can_gain, moves.largest, alpha)
    loss = _sum(moves.loss, moves.loss_square, sample, moves.can_lose, moves.largest, alpha)
    return widened(minus(gain, loss, sample), noise, alpha=alpha)


def blind_stretched(
    bounds: SumBounds, strata: Strata, old: FloatArray, answers: GradedAnswers
) -> SumBounds:
    """Stretch an interval by half the gap to the blind estimate."""
    if answers.blind is None or answers.blind.all():
        return bounds
    moves, sample = grade_moves(strata, old, answers)
    keep = answers.blind
    some = GradedAnswers(asked=answers.asked[keep], grade=answers.grade[keep])
    d = some.grade - old[some.asked]
    of = strata.of[some.asked]
    sums = np.bincount(of, weights=d, minlength=len(strata)).astype(np.float64)
    number = np.bincount(of, minlength=len(strata)).astype(np.float64)
    return stretched(bounds, blind_gap(moves.net, sample, sums, number), part=ACCURACY_HULL)


def grade_moves(
    strata: Strata, old: FloatArray, answers: GradedAnswers
) -> tuple[GradeMoves, StratumSample]:
    """Add up gains and losses by stratum, and say what was answered where."""
    d = _grades(answers.grade, len(answers.asked), "grade") - old[answers.asked]
    of, number = strata.of[answers.asked], len(strata)
    answered = np.bincount(of, minlength=number).astype(np.float64)
    if not answered.all():
        empty = int(answered.argmin())
        raise InputError(f"stratum {empty} has no answer: join it with another, or ask there")

    def total(values: FloatArray) -> FloatArray:
        return np.bincount(of, weights=values, minlength=number).astype(np.float64)

    up, down = np.maximum(d, 0.0), np.maximum(-d, 0.0)
    largest = float(np.abs(d).max())
    moves = GradeMoves(
        gain=total(up),
        loss=total(down),
        gain_square=total(up**2),
        loss_square=total(down**2),
        can_gain=np.bincount(strata.of, weights=old < 1, minlength=number) > 0,
        can_lose=np.bincount(strata.of, weights=old > 0, minlength=number) > 0,
        largest=largest if largest > 0 else 1.0,
    )
    return moves, StratumSample(strata.shares, answered, answered / strata.sizes)


def grade_noise_share(
    old: ArrayLike, first: ArrayLike, second: ArrayLike, *, weight: ArrayLike | None = None
) -> float:
    """Return λ, (N8), from grades of flips that were asked again; 1 without a repeat.

    Parameters
    ----------
    old, first, second
        o, g1 and g2 of each repeat.
    weight
        p_k/n_k(blind) of its stratum; None weighs all alike.

    Examples
    --------
    >>> first = [.75] * 3 + [.25] * 2 + [0] + [.75] * 4 + [0]
    >>> old = [.5] * 6 + [1] * 5
    >>> second = [.5, .75, .75, .5, .25, 0] + [.75] * 4 + [0]
    >>> round(grade_noise_share(old, first, second), 4)
    0.2098
    """
    h, d, w = repeat_noise(old, first, second, weight=weight)
    if not h.size:
        return 1.0
    q = float((w * d**2).sum() / w.sum())
    if q <= 0:
        return 1.0  # nothing flipped, so nothing was repeated that could tell
    rate = (float((w * h).sum()) + q / 2) / (float((w * d**2).sum()) + q)
    return min(1.0, 2 * rate)  # (N8)


def repeat_noise(
    old: ArrayLike, first: ArrayLike, second: ArrayLike, *, weight: ArrayLike | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return h of (N8), d = first - old, and the weights scaled to mean 1, for each repeat."""
    o, g1, g2 = (np.atleast_1d(np.asarray(part, dtype=float)) for part in (old, first, second))
    w = np.ones(o.shape) if weight is None else np.asarray(weight, dtype=float)
    if o.ndim != 1 or any(part.shape != o.shape for part in (g1, g2, w)):
        raise InputError(
            f"old, first, second and weight must be equally long, got {o.shape}, {g1.shape}, "
            f"{g2.shape} and {w.shape}"
        )
    h = 0.5 * (g1 - g2) ** 2 * (1 + np.isclose(g2, o, rtol=0, atol=1e-12))
    return h, g1 - o, w / w.mean() if w.size else w


def _sum(
    total: FloatArray,
    square: FloatArray,
    sample: StratumSample,
    possible: BoolArray,
    largest: float,
    alpha: float,
) -> SumBounds:
    """Return the sum of gains (or losses) with its interval, as (I1) and (I2) with (N7)."""
    p = np.where(possible, sample.shares, 0.0)
    mass = np.asarray(p.sum())
    safe = float(mass) if mass > 0 else 1.0
    n = sample.answered
    value = (p * total / n).sum()
    mean, second = value / safe, (p * square / n).sum() / safe

    rate = np.where(possible, (total + mean) / (n + 1), 0.0)
    spread = np.maximum((square + second) / (n + 1) - rate**2, 0.0)  # (N7)
    variance = (p**2 * (1 - sample.fraction) / n * spread).sum()
    more = one_more(sample, possible) * largest
    low, high = sum_ends(np.asarray(value), np.asarray(variance), more, mass=mass, alpha=alpha)
    return SumBounds(np.asarray(value), low, high, np.asarray(variance), rate)


def _grades(values: ArrayLike, number: int, name: str) -> FloatArray:
    grades = np.asarray(values, dtype=np.float64)
    if grades.shape != (number,) or not np.all((grades >= 0) & (grades <= 1)):
        raise InputError(
            f"{name} must hold {number} grades in [0, 1], got shape {grades.shape}: "
            "scale 1-5 as (grade - 1)/4"
        )
    return grades


# Graded shift: answers are scored, and the mean grade is what may have changed.


class GradedClient(Client):
    """Ask a system, then let a grader score its answer: together they are one API.

    Parameters
    ----------
    system
        Whose answers are graded.
    grader
        Gets the row with the answer as the column ``answer``.
    """

    def __init__(self, system: Client, grader: Client) -> None:
        self._system, self._grader = system, grader

    @property
    def description(self) -> dict[str, Json]:
        """Both descriptions."""
        return {
            "kind": "graded",
            "system": self._system.description,
            "grader": self._grader.description,
        }

    @property
    def secrets(self) -> tuple[str, ...]:
        """The keys of both."""
        return (*self._system.secrets, *self._grader.secrets)

    def question(self, row: Mapping[str, Any]) -> Json:
        """Return what the system is asked; what the grader is asked follows from the answer."""
        return self._system.question(row)

    async def answer(self, row: Mapping[str, Any]) -> str | None:
        """Return the grade."""
        return (await self.ask(row)).text

    async def ask(self, row: Mapping[str, Any]) -> Reply:
        """Return the grade with the tokens of both; one failure fails both."""
        said = await self._system.ask(row)
        graded = await self._grader.ask({**row, "answer": said.text or ""})
        return replace(
            graded,
            input_tokens=_graded_sum(said.input_tokens, graded.input_tokens),
            output_tokens=_graded_sum(said.output_tokens, graded.output_tokens),
            cut=said.cut or graded.cut,
            model=said.model or graded.model,
        )

    async def __aenter__(self) -> GradedClient:
        await self._system.__aenter__()
        await self._grader.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._system.__aexit__(*error)
        await self._grader.__aexit__(*error)


def _graded_sum(a: int | None, b: int | None) -> int | None:
    return None if a is None and b is None else (a or 0) + (b or 0)


def grade_scale(labels: tuple[str, ...]) -> FloatArray:
    """Return the grades as numbers on [0, 1], from the lowest to the highest.

    >>> grade_scale(("1", "2", "5")).tolist()
    [0.0, 0.25, 1.0]
    """
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError as error:
        raise InputError(
            f"grades must be numbers, got {', '.join(labels[:6])}: name the scale (--labels 1,2,3)"
        ) from error
    low, high = numbers.min(), numbers.max()
    if low == high:
        raise InputError("all grades are equal: name the whole scale (--labels 1,2,3,4,5)")
    return np.asarray((numbers - low) / (high - low))


def with_grades(result: ShiftResult, *, alpha: float) -> ShiftResult:
    """Return the result with the change of the mean grade, (N7) and (N8), in units of the scale.

    Parameters
    ----------
    result
        Of a run without true labels whose answers are grades.
    alpha
        One minus the level.
    """
    if result.evidence is None or result.noise is None:
        raise InputError("a change of grades needs the old grade of every item (--old)")
    items, strata, answers = result.evidence
    scale = np.append(grade_scale(items.labels), np.nan)
    told = (answers.codes != FAILED) & (answers.codes < len(items.labels))
    asked, codes = answers.asked[told], answers.codes[told]
    used = collapse(strata, np.bincount(strata.of[asked], minlength=len(strata)), least=1)
    blind = None if answers.blind is None else answers.blind[told]
    assert items.old is not None  # there is noise, so there are old answers
    old = scale[items.old]

    share = 0.0
    if result.noise.answers_are != "deterministic":
        seen = asked if blind is None else asked[blind]
        number = np.bincount(used.of[seen], minlength=len(used))
        weight = (used.shares / np.maximum(number, 1))[used.of]
        first = dict(zip(asked.tolist(), codes.tolist(), strict=True))
        readable = answers.second < len(items.labels)
        again = (answers.repeated[readable], answers.second[readable])
        repeats = repeats_of(items, first, again, weight)
        share = 1.0
        if repeats is not None and len(repeats):
            share = grade_noise_share(
                scale[repeats.old],
                scale[repeats.first],
                scale[repeats.second],
                weight=repeats.weight,
            )
    given = GradedAnswers(asked=asked, grade=scale[codes], blind=blind)
    found = [graded_change(used, old, given, share=one, alpha=alpha) for one in (share, 1.0)]
    changes = [
        Change(
            estimate=float(one.value),
            interval=Interval(
                min(float(one.low), float(one.value)),
                max(float(one.high), float(one.value)),
                level=1 - alpha,
                method="second moments of grades, blind hull, noise",
            ),
        )
        for one in found
    ]
    noise = replace(result.noise, accuracy_share=share, whole_noise=changes[1])
    facts = Facts(
        accuracy=changes[0],
        flips=result.flip_rate,
        noise=noise,
        asked=len(answers.asked),
        population=len(items),
        calls=result.calls,
        labelled=False,
        scale=(items.labels[0], items.labels[-1]),
    )
    decision, needed, verdict = decide(facts)
    return replace(
        result,
        grade_change=changes[0],
        noise=noise,
        decision=decision,
        needed=needed,
        verdict=verdict,
        sentences=opening_of(facts),
    )
