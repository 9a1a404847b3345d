"""What the verb runs: everything that applies, side by side, and the strongest claim that
survives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from tallystick._rng import Rng, seed_of
from tallystick.errors import ConvergenceError, NotIdentifiable, TallystickError
from tallystick.judge.ballots import Ballots, Ranges, check_ranges
from tallystick.judge.branch import Branch, Known
from tallystick.judge.dawid_skene import dawid_skene_result, fit_ballots
from tallystick.judge.estimates import BLEND, by_likelihood, closed_forms, majorities
from tallystick.judge.few_labels import label_scores
from tallystick.judge.given_range import held_to_range, unpicked
from tallystick.judge.independent import SHARED_BIAS, trio_alarms
from tallystick.judge.leader import by_votes, leader
from tallystick.judge.logical import Logic, LogicalResult
from tallystick.judge.logical import logical as logical_method
from tallystick.judge.majority import ALWAYS_LOOKS_RIGHT, MAJORITY, learnt, majority_shares
from tallystick.judge.refutation import plain, tested_by_labels
from tallystick.judge.result import (
    Alarm,
    Estimate,
    JudgeResult,
    JudgeScore,
    LabelScore,
    Range,
    Share,
    Solution,
)
from tallystick.results import Interval, Needed, Unknown
from tallystick.stats.latent import LatentFit, misfit
from tallystick.tally import Tally, unordered
from tallystick.values.label import Label

__all__ = ["grade"]

_HALF_WIDTH = 0.05
_MOST_TRIO_JUDGES = 80
_FEW = 10


def grade(
    votes: Tally,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    prevalence: Ranges | None = None,
    known: Known | None = None,
    alpha: float = 0.05,
    certified: bool = False,
    rng: Rng = 0,
) -> JudgeResult:
    """Grade judges by all that applies, and say the strongest thing that survives.

    With labels, the numbers rest on them (`few_labels`) and every label-free estimate is tested by
    them. Without, the headline is Dawid-Skene, unless pairs of judges agree in a way that it cannot
    explain (`misfit`: more than 1.7 times its null, and more than every null draw); then it is the
    mean of majority vote and majority of the others, without an interval, since nothing is left to
    base one on. With one or two judges, or where the votes do not determine the model at all, only
    logic remains. What is proved against independence stands in ``alarms``; a bias that all judges
    share is proved by nothing but labels.

    Parameters
    ----------
    votes, judges, labels
        The tally; which columns judge; labels that nobody voted for.
    truth
        A column of true labels, partly blank, on items drawn at random.
    prevalence
        Label to a range of its share: narrows logic and picks the branch of `independent`.
    known
        Judge to label to known accuracy: estimates the rest, or only the prevalence.
    alpha
        One minus the level.
    certified
        Exact intervals from labels instead of approximate, shorter ones.
    rng
        For the refits that test the model.

    Examples
    --------
    >>> from tallystick.judge import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={name: ("9/10", "4/5") for name in "wxyz"})
    >>> votes = simulate(point).tally
    >>> result = grade(votes, judges=list("wxyz"))
    >>> result.method, result.decision, [estimate.method for estimate in result.estimates][:3]
    ('dawid-skene', 'undecided', ['dawid-skene', 'independent', 'spectral'])
    >>> grade(votes, truth="truth").judges[0].interval.width
    0.0
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels)
    ranges = check_ranges(prevalence, ballots)
    blind = ballots.blind
    whole = bool((blind.counts == np.floor(blind.counts)).all())
    logic = (
        logical_method(votes, judges=judges, truth=truth, labels=labels, prevalence=prevalence)
        if whole
        else None
    )
    fitted, trouble = _fit(blind, known)
    alarms: list[Alarm] = []
    trios: Mapping[str, int] = {}
    solutions: tuple[Solution, ...] = ()
    claims = [] if fitted is None else [by_likelihood(blind, fitted, known, rng)]
    if len(blind.classes) == 2 and 3 <= len(blind.names) <= _MOST_TRIO_JUDGES:
        branch = Branch.of(ballots, prevalence=prevalence, known=known)
        more, trios, solutions = closed_forms(ballots, blind, branch)
        claims += more
        alarms += [*trio_alarms(dict(trios)), *unpicked(solutions, branch, ballots)]
    claims += majorities(blind)
    found = [claim.estimate for claim in claims]
    if fitted is not None:
        alarms += _tested(blind, fitted, whole, rng)
    # Judges of known quality keep their model: what they are asked for, the prevalence, no majority
    # tells.
    refuted = any(alarm.name == "misfit" for alarm in alarms) and not known
    proved = [
        f"{one.proves}; that does not prove {one.does_not_prove}"
        for one in alarms
        if one.name == "misfit"
    ]
    if (ballots.truth >= 0).any():
        result = label_scores(
            ballots,
            prevalence=prevalence,
            alpha=alpha,
            certified=certified,
            posterior=None if fitted is None else fitted.posterior,
        )
        found, more_alarms = tested_by_labels(claims, ballots, alpha)
        alarms += [*result.alarms, *more_alarms]
        result = replace(result, verdict=result.verdict + _survivors(found))
    elif len(blind.names) >= 3 and (refuted or isinstance(trouble, ConvergenceError)):
        result = _blend(blind, found, trouble=trouble, alpha=alpha)
    elif fitted is not None:
        result = dawid_skene_result(blind, fitted, known=known, alpha=alpha)
    else:
        result = _only_logic(logic, blind, str(trouble))
    result = _with_logic(result, Logic.of(ballots, ranges) if whole else None, alpha)
    result = held_to_range(replace(result, alarms=tuple(alarms)), ballots, prevalence)
    warnings = (
        *result.warnings,
        *_nobody_right(ballots),
        *proved,
        *_constant(blind),
        *(() if result.n_labels else (SHARED_BIAS,)),
    )
    if truth is not None and not result.n_labels:
        warnings = (f"{truth} holds no label yet: everything here is from votes alone", *warnings)
    order = unordered(ballots.classes)
    return replace(
        result,
        needed=result.needed if result.n_labels else _needed(result, blind, alpha),
        assumptions=result.assumptions if order is None else (*result.assumptions, order),
        warnings=tuple(dict.fromkeys(warnings)),
        solutions=solutions,
        estimates=tuple(found),
        trios=trios,
        statements=() if logic is None else logic.statements,
        seed=seed_of(rng),
    )


def _fit(blind: Ballots, known: Known | None) -> tuple[LatentFit | None, TallystickError | None]:
    try:
        return fit_ballots(blind, known=known), None
    except (NotIdentifiable, ConvergenceError) as error:
        return None, error


def _tested(blind: Ballots, fitted: LatentFit, whole: bool, rng: Rng) -> list[Alarm]:
    if not whole:
        return []
    try:
        found = misfit(fitted, rng=rng)
    except NotIdentifiable:
        return []  # three binary judges fit anything: nothing can be tested
    if not found.refuted:
        return []
    i, j = np.unravel_index(int(np.nanargmax(found.z)), found.z.shape)
    pair = f"{blind.names[min(i, j)]} and {blind.names[max(i, j)]}"
    return [
        Alarm(
            name="misfit",
            proves=(
                "pairs of judges agree in a way that independent errors do not explain"
                f" ({found.ratio:.1f} times what they would show), {pair} more than any others"
            ),
            does_not_prove="which judges are at fault, nor how good any of them is",
        )
    ]


def _survivors(found: Sequence[Estimate]) -> str:
    lost = [estimate.method for estimate in found if estimate.rejected]
    return f" The labels reject {', '.join(lost)}." if lost else ""


def _nobody_right(ballots: Ballots) -> list[str]:
    """Return a warning if no true label is one that any judge gives."""
    true = np.unique(ballots.truth[ballots.truth >= 0])
    if not true.size or np.isin(true, ballots.codes).any():
        return []
    told = ", ".join(ballots.keys[c] for c in true[:4].tolist())
    return [
        f"no judge ever says {told}, the only true label so far: are truth and votes written alike?"
    ]


def _constant(blind: Ballots) -> list[str]:
    """Return a warning for every judge that always gives one label."""
    ever = (blind.vote_counts > 0).sum(axis=1) == 1
    label = blind.vote_counts.argmax(axis=1)
    return [
        f"{blind.names[j]} always votes {blind.keys[label[j]]}: its accuracy says how common that"
        " is, nothing else"
        for j in np.flatnonzero(ever & (blind.voted >= _FEW)).tolist()
    ]


def _blend(
    blind: Ballots, found: Sequence[Estimate], *, trouble: TallystickError | None, alpha: float
) -> JudgeResult:
    """Lead with the majorities, since independent errors are refuted, or the model came to no end
    (*trouble*).
    """
    blend = next(estimate for estimate in found if estimate.method == BLEND)
    reason = Unknown(
        "no interval is valid once independent errors are refuted: label some items drawn at random"
    )
    if trouble is not None:
        reason = Unknown(f"no model could be fitted ({trouble}): label some items drawn at random")
    scores = tuple(
        JudgeScore(
            name=name, accuracy=blend.accuracy[name], interval=reason, votes=float(blind.voted[j])
        )
        for j, name in enumerate(blind.names)
    )
    rates = np.array([plain(score.accuracy) for score in scores])
    best = leader(blind.names, *by_votes(rates, blind.voted, alpha=alpha))
    first = (
        ""
        if best is None
        else f"; by agreement with the others {best.name} comes first with about "
    )
    first += "" if best is None else f"{100 * rates[best.place]:.0f} %"
    head = (
        "These judges do not err independently"
        if trouble is None
        else "The independence model cannot be fitted"
    )
    return JudgeResult(
        verdict=f"{head}, so no label-free number can be relied on{first}.",
        decision="undecided",
        n_items=round(blind.n),
        assumptions=(MAJORITY,),
        warnings=(ALWAYS_LOOKS_RIGHT,),
        method=BLEND,
        judges=scores,
        prevalence={
            key: Share(estimate=value, interval=reason) for key, value in blend.prevalence.items()
        },
        votes=blind.votes,
        learnt=learnt(blind, majority_shares(blind)),
    )


def _only_logic(logic: LogicalResult | None, blind: Ballots, why: str) -> JudgeResult:
    if logic is None:
        raise NotIdentifiable(why)
    return JudgeResult(
        verdict=f"{_these(blind)} cannot be graded without labels. {logic.verdict}",
        warnings=() if len(blind.names) < 3 else (f"no model could be fitted: {why}",),
        decision="unknowable",
        n_items=round(blind.n),
        assumptions=logic.assumptions,
        method="logical",
        judges=logic.judges,
        prevalence=logic.prevalence,
        votes=blind.votes,
        learnt=learnt(blind, majority_shares(blind)),
    )


def _these(blind: Ballots) -> str:
    return blind.names[0] if len(blind.names) == 1 else f"These {len(blind.names)} judges"


def _with_logic(result: JudgeResult, logic: Logic | None, alpha: float) -> JudgeResult:
    """Put beside each number what logic alone allows."""
    if logic is None:
        return result

    def certain(ends: tuple[float, float]) -> Interval:
        return Interval(*ends, level=1 - alpha, guarantee="exact", method="logic")

    scores = []
    for j, score in enumerate(result.judges):
        none: Range = Unknown("this method says nothing by label")
        parts = {
            key: replace(
                score.per_label.get(
                    key,
                    LabelScore(
                        estimate=Unknown("this method says nothing by label"), interval=none
                    ),
                ),
                logical=certain(logic.on_label(j, c)),
            )
            for c, key in enumerate(logic.keys)
        }
        scores.append(replace(score, per_label=parts, logical=certain(logic.overall(j))))
    return replace(result, judges=tuple(scores))


def _needed(result: JudgeResult, blind: Ballots, alpha: float) -> Needed:
    """Return about how many random labels give every judge an interval of ± 5 points."""
    rates = [min(max(plain(score.accuracy, 0.5), 0.5), 0.95) for score in result.judges]
    variance = max(rate * (1 - rate) for rate in rates)
    free = variance * (NormalDist().inv_cdf(1 - alpha / 2) / _HALF_WIDTH) ** 2
    n = blind.n
    return Needed(
        max(1, min(round(n), round(free * n / (free + n - 1)))), "labels on items drawn at random"
    )
