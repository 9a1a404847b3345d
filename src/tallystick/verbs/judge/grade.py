"""What the verb runs: everything that applies, and the strongest claim that survives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from tallystick._rng import Rng, seed_of
from tallystick.errors import ConvergenceError, NotIdentifiable, TallystickError
from tallystick.papers.noisy_judges.baselines import (
    RankOne,
    agreement_accuracy,
    majority_scores,
    majority_shares,
    rank_one,
    spectral_point,
)
from tallystick.papers.noisy_judges.trio_quadratic import solve_moments, trio_moments
from tallystick.results import Interval, Unknown
from tallystick.stats.intervals import wilson
from tallystick.stats.latent_checks import Misfit, Support, misfit
from tallystick.stats.latent_fit import LatentFit
from tallystick.stats.latent_headline import Headline
from tallystick.stats.latent_model import posterior
from tallystick.table import Tally, unordered
from tallystick.table.cells import Label
from tallystick.table.words import PASS_FAIL, as_word
from tallystick.verbs.judge.ballots import (
    Alarm,
    Ballots,
    Estimate,
    Floats,
    LabelScore,
    Number,
    Ranges,
    Solution,
    check_ranges,
)
from tallystick.verbs.judge.few_labels import label_scores, labels_needed_first
from tallystick.verbs.judge.independence import interval_ends
from tallystick.verbs.judge.independent import (
    Branch,
    Known,
    Medians,
    both_points,
    held_to_range,
    medians,
    trio_alarms,
    trio_counts,
    unpicked,
)
from tallystick.verbs.judge.label_free import (
    VoteModel,
    fit_vote_model,
    item_support,
    label_free_result,
    sample_items,
    support_by_shares,
)
from tallystick.verbs.judge.logical import (
    Claim,
    Doubt,
    Logic,
    LogicalResult,
    plain,
    tested_by_labels,
)
from tallystick.verbs.judge.logical import logical as logical_method
from tallystick.verbs.judge.majority import agreement_ends, panel_agreement
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.supervised import (
    dawid_skene_result,
    fit_ballots,
    overall_accuracy,
    overall_ends,
)
from tallystick.verbs.judge.verdict import (
    COULD_NOT_BE_FITTED,
    INDEPENDENCE,
    MAJORITY,
    NOT_CALIBRATED,
    STREAM,
    UNREADABLE,
    needed_first_labels,
    only_logic,
)
from tallystick.verbs.judge.verdict_methods import (
    always_votes,
    fitted_to_part,
    misfit_alarm,
    missing_votes,
    no_label_yet,
    nobody_right,
    proved,
    stray_labels,
)

_MOST_TRIO_JUDGES = 80
_MOST_MISSING = 0.1
_FEW = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class _Without:
    """What the votes say without labels: models, claims and alarms, each fitted once."""

    sample: Ballots
    fitted: LatentFit | None
    trouble: TallystickError | None
    model: VoteModel | None
    claims: list[Claim]
    alarms: list[Alarm]
    trios: dict[str, int] = field(default_factory=dict)
    solutions: tuple[Solution, ...] = ()


def grade(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    prevalence: Ranges | None = None,
    known: Known | None = None,
    alpha: float = 0.05,
    certified: bool = False,
    rng: Rng = 0,
) -> JudgeResult:
    """Grade judges by all that applies, and say the strongest thing that survives.

    With labels, the numbers rest on them (`few_labels`) and every label-free estimate is tested by
    them. Without, the headline is Dawid-Skene with unreadable items, pulled towards the majority of
    the others by misfit (U5). It has a range that held on comparable panels (U6) and no interval:
    a bias that all judges share fits the votes perfectly, so nothing but labels can license one.
    With one or two judges only logic remains.

    Parameters
    ----------
    votes, judges
        The tally or ballots; which columns judge.
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
        For the refits that test the model, and for the part of a large table that models see.

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={name: ("9/10", "4/5") for name in "wxyz"})
    >>> votes = simulate(point).tally
    >>> result = grade(votes, judges=list("wxyz"))
    >>> result.method, result.decision, [estimate.method for estimate in result.estimates][1]
    ('dawid-skene with unreadable items', 'undecided', 'dawid-skene')
    >>> grade(votes, truth="truth").judges[0].interval.width
    0.0
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth)
    blind = ballots.blind
    ranges = check_ranges(prevalence, ballots)
    whole = bool((blind.counts == np.floor(blind.counts)).all())
    logic = logical_method(ballots, prevalence=prevalence) if whole else None
    found = _without_labels(ballots, prevalence=prevalence, known=known, rng=rng)

    # With labels they decide; without, the model of the votes; without a model, logic alone.
    estimates = [claim.estimate for claim in found.claims]
    alarms = list(found.alarms)
    if (ballots.truth >= 0).any():
        result = label_scores(
            ballots,
            prevalence=prevalence,
            alpha=alpha,
            certified=certified,
            posterior=_consensus(found, blind),
        )
        estimates, more = tested_by_labels(found.claims, ballots, alpha)
        alarms += [*result.alarms, *more]
    elif known and found.fitted is not None:
        result = dawid_skene_result(blind.answered, found.fitted, known=known, alpha=alpha)
    elif found.model is not None:
        result = label_free_result(blind, found.model)
    else:
        result = _only_logic(logic, blind, str(found.trouble))

    # What logic allows, what was given, what agrees, and what is known of single items.
    result = _with_logic(result, Logic.of(ballots, ranges) if whole else None, alpha)
    result = held_to_range(replace(result, alarms=tuple(alarms)), ballots, prevalence)
    result = _with_items(result, ballots, found, rng)
    needed, forecast = result.needed, result.labels_needed
    if not result.n_labels:
        rates = [plain(score.accuracy, np.nan) for score in result.judges]
        forecast = labels_needed_first(rates, blind.n, alpha=alpha)
        needed = needed_first_labels(forecast)
    order = unordered(ballots.classes)
    part = "" if found.sample is blind else fitted_to_part(round(found.sample.n), round(blind.n))
    return replace(
        with_rates(result, ballots),
        needed=needed,
        labels_needed=forecast,
        assumptions=result.assumptions if order is None else (*result.assumptions, order),
        warnings=_warnings(result, ballots, truth),
        solutions=found.solutions,
        estimates=tuple(estimates),
        trios=found.trios,
        statements=() if logic is None else logic.statements,
        agreement=panel_agreement(ballots, alpha=alpha),
        never_true=tuple(map(str, ballots.extras)),
        left_out=part,
        seed=seed_of(rng),
    )


def _without_labels(
    ballots: Ballots, *, prevalence: Ranges | None, known: Known | None, rng: Rng
) -> _Without:
    """Fit everything that needs no labels, to a random part of the items where they are many."""
    blind = ballots.blind
    sample = sample_items(blind, rng=rng)
    plain_votes = sample.answered
    fitted, trouble = _fit(plain_votes if known else sample, known)
    model: VoteModel | None = None
    # Votes that do not determine the plain model determine no other one either.
    if not isinstance(trouble, NotIdentifiable):
        model = fit_vote_model(blind, sample, rng=rng)

    claims = [] if model is None else [by_headline(sample, model.headline)]
    if fitted is not None:
        claims.append(by_likelihood(plain_votes if known else sample, fitted, known, rng))
    alarms: list[Alarm] = []
    trios: dict[str, int] = {}
    solutions: tuple[Solution, ...] = ()
    if len(blind.classes) == 2 and 3 <= len(blind.names) <= _MOST_TRIO_JUDGES:
        branch = Branch.of(ballots.answered, prevalence=prevalence, known=known)
        more, counts, solutions = closed_forms(ballots.answered, plain_votes, branch)
        trios = dict(counts)
        claims += [_of_all_votes(claim, sample) for claim in more]
        alarms += [*trio_alarms(trios), *unpicked(solutions, branch, ballots)]
    claims += majorities(sample)

    tested = _misfit_of(model, fitted if known else None, rng)
    if tested is not None and tested.refuted:
        i, j = np.unravel_index(int(np.nanargmax(tested.z)), tested.z.shape)
        pair = [blind.names[min(i, j)], blind.names[max(i, j)]]
        alarms.append(misfit_alarm(tested.ratio, pair))
    return _Without(
        sample=sample,
        fitted=fitted,
        trouble=trouble,
        model=model,
        claims=claims,
        alarms=alarms,
        trios=trios,
        solutions=solutions,
    )


def _of_all_votes(claim: Claim, sample: Ballots) -> Claim:
    """Return a claim about answers as one about all votes, of which extras are never right."""
    if not sample.extras:
        return claim
    share = dict(zip(sample.names, sample.answered_share.tolist(), strict=True))
    accuracy = {
        name: value * share[name] if isinstance(value, float) else value
        for name, value in claim.estimate.accuracy.items()
    }

    def doubt(alpha: float) -> tuple[Floats, Floats]:
        low, high = claim.doubt(alpha)
        return low * sample.answered_share, high * sample.answered_share

    return Claim(estimate=replace(claim.estimate, accuracy=accuracy), doubt=doubt)


def _fit(blind: Ballots, known: Known | None) -> tuple[LatentFit | None, TallystickError | None]:
    try:
        return fit_ballots(blind, known=known), None
    except (NotIdentifiable, ConvergenceError) as error:
        return None, error


def _consensus(found: _Without, blind: Ballots) -> Floats | None:
    """Return Dawid-Skene's posterior of every pattern; None where it could not be fitted."""
    if found.fitted is None:
        return None
    if found.sample is not blind and found.model is not None:
        # A pattern that the sample has not shown may be impossible under the plain fit; with
        # pseudo-votes (U2) every pattern has a probability.
        return found.model.fit.apply(blind.codes, 0.0)
    if found.sample is blind and len(found.fitted.posterior) == len(blind.counts):
        return found.fitted.posterior
    codes = blind.codes if found.fitted.model.confusion.shape[2] > len(blind.classes) else None
    return posterior(found.fitted.model, blind.answered.codes if codes is None else codes)


def _misfit_of(model: VoteModel | None, stated: LatentFit | None, rng: Rng) -> Misfit | None:
    """Return the test of independent errors, of the stated quality where some judges have one."""
    if stated is not None and (stated.votes.counts % 1 == 0).all():
        try:
            return misfit(stated, rng=rng)
        except NotIdentifiable:
            return None
    return model.misfit if model is not None and isinstance(model.misfit, Misfit) else None


def _with_items(result: JudgeResult, ballots: Ballots, found: _Without, rng: Rng) -> JudgeResult:
    """Attach what is known of the items of each pattern: calibrated by labels where possible."""
    blind = ballots.blind
    given: Support = support_by_shares(blind) if found.model is None else found.model.support
    items = item_support(ballots, given, rng=rng)
    return replace(
        result,
        votes=ballots.votes,
        learnt=items.columns,
        calibration=NOT_CALIBRATED if items.calibration is None else items.calibration,
    )


def _warnings(result: JudgeResult, ballots: Ballots, truth: str | None) -> tuple[str, ...]:
    """Return every warning once, in the order of what a reader would do about it."""
    blind = ballots.blind
    found = [] if truth is None or result.n_labels else [no_label_yet(truth)]
    found += result.warnings
    true = np.unique(ballots.truth[ballots.truth >= 0])
    if true.size and not np.isin(true, ballots.codes).any():
        found.append(nobody_right([ballots.keys[c] for c in true.tolist()]))
    found += [proved(one) for one in result.alarms if one.name == "misfit"]

    # A judge that always gives one label, or leaves many items out, is easily misread.
    cast = np.column_stack((blind.vote_counts, blind.voted - blind.answered.voted))
    for j in np.flatnonzero(((cast > 0).sum(axis=1) == 1) & (blind.voted >= _FEW)).tolist():
        label = (*blind.keys, "never-true labels")[int(cast[j].argmax())]
        found.append(always_votes(blind.names[j], label))
    found += _strays(ballots)
    gaps = 1 - blind.voted / blind.n
    if (gaps < 0.5).all():  # in a sparse crowd everybody leaves out most items
        found += [
            missing_votes(blind.names[j], float(gaps[j]))
            for j in np.flatnonzero(gaps > _MOST_MISSING).tolist()
        ]
    return tuple(dict.fromkeys(found))


def _strays(ballots: Ballots) -> list[str]:
    """Return a warning for each judge with labels that nobody else uses, where others share theirs.

    Refusals and errors in free words ("I cannot assess this") look like labels of their own.
    """
    cast = ballots.blind.vote_counts > 0
    true = np.isin(np.arange(len(ballots.classes)), ballots.truth)
    lonely = (cast.sum(axis=0) == 1) & ~true
    shared = [key for key, alone in zip(ballots.keys, lonely, strict=True) if not alone]
    if len(ballots.names) < 3 or len(shared) < 2:
        return []
    return [
        stray_labels(name, [ballots.keys[c] for c in np.flatnonzero(mine & lonely)], shared)
        for name, mine in zip(ballots.names, cast, strict=True)
        if (mine & lonely).any()
    ]


def _only_logic(logic: LogicalResult | None, blind: Ballots, why: str) -> JudgeResult:
    if logic is None:
        raise NotIdentifiable(why)
    return JudgeResult(
        verdict=only_logic(blind.names, logic.verdict),
        warnings=() if len(blind.names) < 3 else (COULD_NOT_BE_FITTED + why,),
        decision="unknowable",
        n_items=round(blind.n),
        assumptions=logic.assumptions,
        method="logical",
        judges=logic.judges,
        prevalence=logic.prevalence,
    )


def _with_logic(result: JudgeResult, logic: Logic | None, alpha: float) -> JudgeResult:
    """Put beside each number what logic alone allows, and cut ranges to it."""
    if logic is None:
        return result

    def certain(ends: tuple[float, float]) -> Interval:
        return Interval(*ends, level=1 - alpha, guarantee="exact", method="logic")

    scores = []
    nothing = Unknown("this method says nothing by label")
    for j, score in enumerate(result.judges):
        parts = {
            key: replace(
                score.per_label.get(key, LabelScore(estimate=nothing, interval=nothing)),
                logical=certain(logic.on_label(j, c)),
            )
            for c, key in enumerate(logic.keys)
        }
        ends = logic.overall(j)
        cut = score.range
        if not isinstance(cut, Unknown):
            cut = (float(np.clip(cut[0], *ends)), float(np.clip(cut[1], *ends)))
        scores.append(replace(score, per_label=parts, logical=certain(ends), range=cut))
    return replace(result, judges=tuple(scores))


# Every label-free estimate that applies, side by side, each with its own doubt.


BLEND = "majority with and without oneself"


def by_likelihood(blind: Ballots, fitted: LatentFit, known: Known | None, rng: Rng) -> Claim:
    """Return what Dawid-Skene says."""
    estimate = Estimate(
        method="dawid-skene",
        assumption=INDEPENDENCE,
        accuracy=_named(blind, overall_accuracy(blind, fitted, known)),
        prevalence={key: float(fitted.balance[c]) for c, key in enumerate(blind.keys)},
    )
    return Claim(
        estimate=estimate,
        doubt=lambda alpha: overall_ends(blind, fitted, known=known, alpha=alpha, rng=rng),
    )


def by_headline(blind: Ballots, headline: Headline) -> Claim:
    """Return what Dawid-Skene with unreadable items says; its doubt is that of a share of votes."""
    estimate = Estimate(
        method="dawid-skene with unreadable items",
        assumption=UNREADABLE,
        accuracy=_named(blind, headline.accuracy),
        prevalence={key: float(headline.balance[c]) for c, key in enumerate(blind.keys)},
    )
    return Claim(estimate=estimate, doubt=partial(_of_share, headline.accuracy, blind.voted))


def closed_forms(
    ballots: Ballots, blind: Ballots, branch: Branch
) -> tuple[list[Claim], Mapping[str, int], tuple[Solution, ...]]:
    """Return the estimates that need two labels and three judges, how the trios ended, and both
    mirror points.
    """
    moments = trio_moments(blind.codes, blind.counts)
    trios = solve_moments(moments)
    counts = trio_counts(trios, blind)
    found = []
    solutions: tuple[Solution, ...] = ()
    middle = medians(trios, branch, ballots)
    if middle is not None:
        solutions = both_points(middle, ballots, branch)
        point = Estimate(
            method="independent",
            assumption=f"{INDEPENDENCE}; {branch.words}",
            accuracy=_named(blind, middle.overall),
            prevalence={blind.keys[0]: middle.balance, blind.keys[1]: 1 - middle.balance},
        )
        found.append(Claim(estimate=point, doubt=partial(_of_medians, middle, blind)))
    try:
        rank = rank_one(moments)
        balance, accuracy = spectral_point(rank)
        point = Estimate(
            method="spectral",
            assumption=INDEPENDENCE,
            accuracy=_named(blind, accuracy @ [balance, 1 - balance]),
            prevalence={blind.keys[0]: balance, blind.keys[1]: 1 - balance},
        )
        found.append(Claim(estimate=point, doubt=partial(_of_spectral, rank, blind)))
    except (NotIdentifiable, ConvergenceError):
        pass  # it is one of several: its own function says why
    rates = agreement_accuracy(blind.codes, blind.counts)
    if np.isfinite(rates).any():
        point = Estimate(method="agreement", assumption=STREAM, accuracy=_named(blind, rates))
        found.append(Claim(estimate=point, doubt=lambda alpha: agreement_ends(blind, alpha=alpha)))
    return found, counts, solutions


def majorities(blind: Ballots) -> list[Claim]:
    """Return majority vote, majority of the others, and their mean; nothing for fewer than three
    judges.
    """
    if len(blind.names) < 3:
        return []  # no majority worth the name
    n_labels = len(blind.classes)
    shares = blind.counts @ majority_shares(blind.codes, n_labels=n_labels)
    prevalence: dict[str, Number] = {
        key: float(shares[c] / shares.sum()) for c, key in enumerate(blind.keys)
    }
    rates: list[Floats] = []
    doubts: list[Doubt] = []
    for apart in (False, True):
        right, mass = majority_scores(
            blind.codes, blind.counts, n_labels=n_labels, leave_one_out=apart
        )
        total = mass.sum(axis=1)
        rates.append(
            np.divide(right.sum(axis=1), total, out=np.full(len(total), np.nan), where=total > 0)
        )
        doubts.append(partial(_of_share, rates[-1], total))

    def blended(alpha: float) -> tuple[Floats, Floats]:
        """Return the mean of both ranges: at least as wide as the range of the mean."""
        (low, high), (lower, higher) = (doubt(alpha) for doubt in doubts)
        return (low + lower) / 2, (high + higher) / 2

    names = ("majority", "majority of the others", BLEND)
    return [
        Claim(
            estimate=Estimate(
                method=name,
                assumption=MAJORITY,
                accuracy=_named(blind, rate),
                prevalence=prevalence,
            ),
            doubt=doubt,
        )
        for name, rate, doubt in zip(
            names, (*rates, (rates[0] + rates[1]) / 2), (*doubts, blended), strict=True
        )
    ]


def _of_medians(middle: Medians, blind: Ballots, alpha: float) -> tuple[Floats, Floats]:
    low, high = middle.intervals(blind, alpha).overall.T
    return low, high


def _of_spectral(rank: RankOne, blind: Ballots, alpha: float) -> tuple[Floats, Floats]:
    _, _, overall = interval_ends(blind, rank, alpha=alpha)
    ends = [
        (end.low, end.high) if isinstance(end, Interval) else (np.nan, np.nan) for end in overall
    ]
    low, high = np.array(ends).T
    return low, high


def _of_share(rate: Floats, total: Floats, alpha: float) -> tuple[Floats, Floats]:
    low, high = np.full((2, len(rate)), np.nan)
    seen = (total > 0) & np.isfinite(rate)
    ends = wilson(np.minimum(rate * total, total)[seen], total[seen], alpha=alpha)
    low[seen], high[seen] = ends.low, ends.high
    return low, high


def _named(blind: Ballots, values: Floats) -> dict[str, Number]:
    return {
        name: (
            float(values[j])
            if np.isfinite(values[j])
            else Unknown(f"nothing can be said of {name} this way")
        )
        for j, name in enumerate(blind.names)
    }


# True positive and true negative rates by their usual names, where there are two labels.


def positive_of(classes: tuple[Label, ...]) -> int | None:
    """Return which of two labels is the positive one; None for more labels.

    Words such as pass, yes and good decide; else the last label in canonical order, so that 1 is
    positive and 0 is not.

    >>> positive_of(("fail", "pass")), positive_of(("bad", "good")), positive_of((0, 1))
    (1, 1, 1)
    >>> positive_of(("correct", "wrong")), positive_of(("a", "b", "c")) is None
    (0, True)
    """
    if len(classes) != 2:
        return None
    words = [as_word(label) for label in classes]
    for family in PASS_FAIL:
        values = [None if word is None else family.get(word) for word in words]
        if values == [1.0, 0.0]:
            return 0
        if values == [0.0, 1.0]:
            return 1
    return 1


def with_rates(result: JudgeResult, ballots: Ballots) -> JudgeResult:
    """Return the result with the true positive and negative rates of every judge."""
    place = positive_of(ballots.classes)
    if place is None:
        return result
    positive, negative = ballots.keys[place], ballots.keys[1 - place]
    scores = tuple(
        replace(score, tpr=score.per_label.get(positive), tnr=score.per_label.get(negative))
        for score in result.judges
    )
    return replace(result, judges=scores, positive=positive)
