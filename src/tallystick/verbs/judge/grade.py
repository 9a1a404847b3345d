"""What the verb runs: labels where there are any, else the votes alone, else logic."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tallystick._rng import Rng, seed_of
from tallystick.errors import ConvergenceError, NotIdentifiable, TallystickError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import Population
from tallystick.stats.latent_checks import Misfit, Support, misfit
from tallystick.stats.latent_fit import LatentFit
from tallystick.table import Tally, unordered
from tallystick.table.cells import Label
from tallystick.table.panel import Floats, Panel
from tallystick.table.words import PASS_FAIL, as_word
from tallystick.verbs.judge.dawid_skene import (
    dawid_skene_result,
    fit_panel,
)
from tallystick.verbs.judge.few_labels import label_scores, labels_needed_first
from tallystick.verbs.judge.independent import (
    Known,
    held_to_range,
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
    Logic,
    LogicalResult,
    plain,
)
from tallystick.verbs.judge.logical import logical as logical_method
from tallystick.verbs.judge.majority import panel_agreement
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import (
    Alarm,
    LabelScore,
    Ranges,
    check_ranges,
)
from tallystick.verbs.judge.verdict import (
    COULD_NOT_BE_FITTED,
    NOT_CALIBRATED,
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

_MOST_MISSING = 0.1
_FEW = 10


@dataclass(frozen=True, kw_only=True, eq=False)
class _Without:
    """What the votes say without labels: the model of all votes, or why there is none."""

    sample: Panel
    stated: LatentFit | None
    trouble: TallystickError | None
    model: VoteModel | None


def grade(
    votes: Tally | Panel,
    *,
    truth: str | None = None,
    prevalence: Ranges | None = None,
    known: Known | None = None,
    alpha: float = 0.05,
    population: Population | None = None,
    certified: bool = False,
    rng: Rng = 0,
) -> JudgeResult:
    """Grade judges by the strongest thing that the table allows.

    With labels, the numbers rest on them (`few_labels`). Without, the headline is Dawid-Skene with
    unreadable items, pulled towards the majority of the others by misfit (U5). It has a range that
    held on comparable panels (U6) and no interval: a bias that all judges share fits the votes
    perfectly, so nothing but labels can license one. With one or two judges only logic remains.

    Parameters
    ----------
    votes
        The tally of judges and truth, or a panel.
    truth
        A column of true labels, partly blank, on items drawn at random.
    prevalence
        Label to a range of its share: narrows logic and picks the branch of `independent`.
    known
        Judge to label to known accuracy: estimates the rest, or only the prevalence.
    alpha
        One minus the level.
    population
        With labels: ``these`` items or ``new`` ones. None: these, and new once all are labelled.
    certified
        Exact intervals from labels instead of approximate, shorter ones.
    rng
        For the refits that test the model, and for the part of a large table that models see.

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={name: ("9/10", "4/5") for name in "wxyz"})
    >>> votes = simulate(point).tally
    >>> result = grade(votes.marginal(list("wxyz")))
    >>> result.method, result.decision
    ('dawid-skene with unreadable items', 'undecided')
    >>> grade(votes, truth="truth", population="these").judges[0].interval.width
    0.0
    """
    panel = Panel.of(votes, truth=truth)
    blind = panel.blind
    ranges = check_ranges(prevalence, panel)
    whole = panel.weight is None and bool((blind.counts == np.floor(blind.counts)).all())
    logic = logical_method(panel, prevalence=prevalence, joint=False) if whole else None
    found = _without_labels(panel, known=known, rng=rng)

    # With labels they decide; without, the model of the votes; without a model, logic alone.
    if panel.known.any():
        result = label_scores(
            panel,
            prevalence=prevalence,
            alpha=alpha,
            population=population,
            certified=certified,
            posterior=_consensus(found, blind),
            rng=rng,
        )
    elif known and found.stated is not None:
        result = dawid_skene_result(blind.answered, found.stated, known=known, alpha=alpha)
    elif found.model is not None:
        result = label_free_result(blind, found.model)
    else:
        result = _only_logic(logic, blind, str(found.trouble))

    # What logic allows, what was given, what agrees, and what is known of single items.
    result = _with_logic(result, Logic.of(panel, ranges) if whole else None, alpha)
    alarms = (*_misfit_alarms(found, rng), *result.alarms)
    result = held_to_range(replace(result, alarms=alarms), panel, prevalence)
    result = _with_items(result, panel, found, rng)
    needed, forecast = result.needed, result.labels_needed
    if not result.n_labels:
        rates = [plain(score.accuracy, np.nan) for score in result.judges]
        forecast = labels_needed_first(rates, blind.n, alpha=alpha)
        needed = needed_first_labels(forecast)
    order = unordered(panel.classes)
    part = "" if found.sample is blind else fitted_to_part(round(found.sample.n), round(blind.n))
    return replace(
        with_rates(result, panel),
        needed=needed,
        labels_needed=forecast,
        assumptions=result.assumptions if order is None else (*result.assumptions, order),
        warnings=_warnings(result, panel, truth),
        statements=() if logic is None else logic.statements,
        agreement=panel_agreement(panel, alpha=alpha),
        never_true=tuple(map(str, panel.extras)),
        left_out=part,
        seed=seed_of(rng),
    )


def _without_labels(panel: Panel, *, known: Known | None, rng: Rng) -> _Without:
    """Fit what needs no labels, to a random part of the items where they are many."""
    blind = panel.blind
    sample = sample_items(blind, rng=rng)
    stated, model, trouble = None, None, None
    try:
        stated = fit_panel(sample.answered, known=known) if known else None
        model = fit_vote_model(blind, sample, rng=rng)
    except (NotIdentifiable, ConvergenceError) as error:
        trouble = error
    return _Without(sample=sample, stated=stated, trouble=trouble, model=model)


def _misfit_alarms(found: _Without, rng: Rng) -> tuple[Alarm, ...]:
    """Say that judges err together, where the votes prove it."""
    tested = _misfit_of(found.model, found.stated, rng)
    return () if tested is None or not tested.refuted else (misfit_alarm(tested.ratio),)


def _consensus(found: _Without, blind: Panel) -> Floats | None:
    """Return Dawid-Skene's posterior of every pattern; None where it could not be fitted."""
    if found.model is None:
        return None
    if found.sample is blind:
        return found.model.fit.plain.posterior
    # A pattern that the sample has not shown may be impossible under the plain fit; with
    # pseudo-votes (U2) every pattern has a probability.
    return found.model.fit.apply(blind.codes, 0.0)


def _misfit_of(model: VoteModel | None, stated: LatentFit | None, rng: Rng) -> Misfit | None:
    """Return the test of independent errors, of the stated quality where some judges have one."""
    if stated is not None and (stated.votes.counts % 1 == 0).all():
        try:
            return misfit(stated, rng=rng)
        except NotIdentifiable:
            return None
    return model.misfit if model is not None and isinstance(model.misfit, Misfit) else None


def _with_items(result: JudgeResult, panel: Panel, found: _Without, rng: Rng) -> JudgeResult:
    """Attach what is known of the items of each pattern: calibrated by labels where possible."""
    blind = panel.blind
    given: Support = support_by_shares(blind) if found.model is None else found.model.support
    items = item_support(panel, given, rng=rng)
    return replace(
        result,
        votes=panel.votes,
        learnt=items.columns,
        by_votes=item_support(blind, given).columns,
        calibration=NOT_CALIBRATED if items.calibration is None else items.calibration,
    )


def _warnings(result: JudgeResult, panel: Panel, truth: str | None) -> tuple[str, ...]:
    """Return every warning once, in the order of what a reader would do about it."""
    blind = panel.blind
    found = [] if truth is None or result.n_labels else [no_label_yet(truth)]
    found += result.warnings
    true = np.unique(panel.truth[panel.truth >= 0])
    if true.size and not np.isin(true, panel.codes).any():
        found.append(nobody_right([panel.keys[c] for c in true.tolist()]))
    found += [proved(one) for one in result.alarms if one.name == "misfit"]

    # A judge that always gives one label, or leaves many items out, is easily misread.
    cast = np.column_stack((blind.vote_counts, blind.voted - blind.answered.voted))
    for j in np.flatnonzero(((cast > 0).sum(axis=1) == 1) & (blind.voted >= _FEW)).tolist():
        label = (*blind.keys, "never-true labels")[int(cast[j].argmax())]
        found.append(always_votes(blind.names[j], label))
    found += _strays(panel)
    gaps = 1 - blind.voted / blind.n
    if (gaps < 0.5).all():  # in a sparse crowd everybody leaves out most items
        found += [
            missing_votes(blind.names[j], float(gaps[j]))
            for j in np.flatnonzero(gaps > _MOST_MISSING).tolist()
        ]
    return tuple(dict.fromkeys(found))


def _strays(panel: Panel) -> list[str]:
    """Return a warning for each judge with labels that nobody else uses, where others share theirs.

    Refusals and errors in free words ("I cannot assess this") look like labels of their own.
    """
    cast = panel.blind.vote_counts > 0
    true = np.isin(np.arange(len(panel.classes)), panel.truth)
    lonely = (cast.sum(axis=0) == 1) & ~true
    shared = [key for key, alone in zip(panel.keys, lonely, strict=True) if not alone]
    if len(panel.names) < 3 or len(shared) < 2:
        return []
    return [
        stray_labels(name, [panel.keys[c] for c in np.flatnonzero(mine & lonely)], shared)
        for name, mine in zip(panel.names, cast, strict=True)
        if (mine & lonely).any()
    ]


def _only_logic(logic: LogicalResult | None, blind: Panel, why: str) -> JudgeResult:
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


def with_rates(result: JudgeResult, panel: Panel) -> JudgeResult:
    """Return the result with the true positive and negative rates of every judge."""
    place = positive_of(panel.classes)
    if place is None:
        return result
    positive, negative = panel.keys[place], panel.keys[1 - place]
    scores = tuple(
        replace(score, tpr=score.per_label.get(positive), tnr=score.per_label.get(negative))
        for score in result.judges
    )
    return replace(result, judges=scores, positive=positive)
