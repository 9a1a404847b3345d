"""What the verb runs: labels where there are any, else the votes alone, else logic."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tallystick._rng import Rng, seed_of
from tallystick.errors import NotIdentifiable, TallystickError
from tallystick.results import Unknown
from tallystick.stats.adverse_binary import Population
from tallystick.stats.latent_checks import Misfit, misfit
from tallystick.stats.latent_model import LatentFit
from tallystick.table import Tally
from tallystick.table.panel import Floats, Panel
from tallystick.verbs.judge.agreement import panel_agreement
from tallystick.verbs.judge.few_labels import label_scores, labels_needed_first
from tallystick.verbs.judge.label_free import (
    VoteModel,
    fit_vote_model,
    item_support,
    label_free_result,
    sample_items,
    support_by_shares,
)
from tallystick.verbs.judge.logical import NO_ESTIMATE, Logic, logical, pair_statements
from tallystick.verbs.judge.models import dawid_skene_result, fit_panel, held_to_range
from tallystick.verbs.judge.question import Known, Ranges, check_ranges
from tallystick.verbs.judge.result import (
    AgreementTable,
    JudgeResult,
    LabelScore,
)
from tallystick.verbs.judge.verdict import (
    NOT_CALIBRATED,
    always_votes,
    fitted_to_part,
    misfit_alarm,
    missing_votes,
    needed_first_labels,
    no_label_yet,
    nobody_right,
    only_logic,
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
    rng: Rng = 0,
) -> JudgeResult:
    """Grade judges by the strongest thing that the table allows.

    With labels, the numbers rest on them (`label_scores`). Without, the headline is Dawid-Skene
    with unreadable items, pulled towards the majority of the others by misfit (U5). It has a range
    that held on comparable panels (U6) and no interval: a bias that all judges share fits the
    votes perfectly, so nothing but labels can license one. With one or two judges only logic
    remains.

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
    blind, ranges = panel.blind, check_ranges(prevalence, panel)
    whole = panel.weight is None and bool((blind.counts == np.floor(blind.counts)).all())
    found = _without_labels(panel, known=known, rng=rng)

    # With labels they decide; without, the model of the votes; without a model, logic alone.
    if panel.known.any():
        result = label_scores(
            panel,
            prevalence=prevalence,
            alpha=alpha,
            population=population,
            posterior=_consensus(found, blind),
            rng=rng,
        )
    elif known and found.stated is not None:
        result = dawid_skene_result(blind.answered, found.stated, known=known)
    elif found.model is not None:
        result = label_free_result(blind, found.model)
    elif whole:
        result = _only_logic(panel, prevalence, str(found.trouble))
    else:
        raise NotIdentifiable(str(found.trouble))
    if whole and not result.n_labels:
        result = _within_logic(result, Logic.of(panel, ranges))

    # What was given, what agrees, what is known of single items, and what labels would tell.
    tested = _misfit_of(found, rng)
    alarms = (misfit_alarm(tested.ratio),) if tested is not None and tested.refuted else ()
    result = held_to_range(replace(result, alarms=(*alarms, *result.alarms)), panel, prevalence)
    result = _with_items(result, panel, found, rng)
    needed, forecast = result.needed, result.labels_needed
    if not result.n_labels:
        rates = [x if isinstance(x := one.accuracy, float) else np.nan for one in result.judges]
        forecast = labels_needed_first(rates, blind.n, alpha=alpha)
        needed = needed_first_labels(forecast)
    agreement = panel_agreement(panel, alpha=alpha)
    part = "" if found.sample is blind else fitted_to_part(round(found.sample.n), round(blind.n))
    return replace(
        _with_kappa(result, agreement),
        needed=needed,
        labels_needed=forecast,
        warnings=_warnings(result, panel, truth),
        statements=pair_statements(panel) if whole else (),
        agreement=agreement,
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
    except NotIdentifiable as error:
        trouble = error
    return _Without(sample=sample, stated=stated, trouble=trouble, model=model)


def _consensus(found: _Without, blind: Panel) -> Floats | None:
    """Return Dawid-Skene's posterior of every pattern; None where it could not be fitted."""
    if found.model is None:
        return None
    if found.sample is blind:
        return found.model.fit.plain.posterior
    # A pattern that the sample has not shown may be impossible under the plain fit; with
    # pseudo-votes (U2) every pattern has a probability.
    return found.model.fit.apply(blind.codes, 0.0)


def _misfit_of(found: _Without, rng: Rng) -> Misfit | None:
    """Return the test of independent errors, of the stated quality where some judges have one."""
    stated = found.stated
    if stated is not None and (stated.votes.counts % 1 == 0).all():
        try:
            return misfit(stated, rng=rng)
        except NotIdentifiable:
            return None
    tested = None if found.model is None else found.model.misfit
    return None if isinstance(tested, Unknown) else tested


def _with_items(result: JudgeResult, panel: Panel, found: _Without, rng: Rng) -> JudgeResult:
    """Attach what is known of the items of each pattern: calibrated by labels where possible."""
    blind = panel.blind
    given = support_by_shares(blind) if found.model is None else found.model.support
    items = item_support(panel, given, rng=rng)
    by_votes = item_support(blind, given) if panel.known.any() else items
    return replace(
        result,
        votes=panel.votes,
        learnt=items.columns,
        by_votes=by_votes.columns,
        calibration=NOT_CALIBRATED if items.calibration is None else items.calibration,
    )


def _only_logic(panel: Panel, prevalence: Ranges | None, why: str) -> JudgeResult:
    found = logical(panel, prevalence=prevalence, joint=False)
    return replace(
        found,
        verdict=only_logic(panel.names, found.verdict),
        warnings=() if len(panel.names) < 3 else (why,),
        decision="unknowable",
    )


def _within_logic(result: JudgeResult, logic: Logic) -> JudgeResult:
    """Put beside each number what logic alone allows, and cut ranges to it."""
    none = LabelScore(estimate=NO_ESTIMATE, interval=NO_ESTIMATE)
    scores = []
    for j, score in enumerate(result.judges):
        whole, parts = logic.certain(j)
        per_label = {
            key: replace(score.per_label.get(key, none), logical=part)
            for key, part in parts.items()
        }
        cut = score.range
        if not isinstance(cut, Unknown):
            low, high = np.clip(cut, whole.low, whole.high).tolist()
            cut = (low, high)
        scores.append(replace(score, per_label=per_label, logical=whole, range=cut))
    return replace(result, judges=tuple(scores))


def _with_kappa(result: JudgeResult, agreement: AgreementTable | None) -> JudgeResult:
    """Return the result with kappa against the truth, where labels are grades."""
    truth = () if agreement is None else agreement.with_truth
    kappa = {one.a: one.weighted_kappa for one in truth}
    judges = (replace(one, weighted_kappa=kappa.get(one.name)) for one in result.judges)
    return replace(result, judges=tuple(judges))


# Warnings, in the order of what a reader would do about them.


def _warnings(result: JudgeResult, panel: Panel, truth: str | None) -> tuple[str, ...]:
    """Return every warning once."""
    blind = panel.blind
    found = [] if truth is None or result.n_labels else [no_label_yet(truth)]
    found += result.warnings
    true = np.unique(panel.truth[panel.known])
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
    true = np.isin(np.arange(panel.n_classes), panel.truth)
    lonely = (cast.sum(axis=0) == 1) & ~true
    shared = [key for key, alone in zip(panel.keys, lonely, strict=True) if not alone]
    if len(panel.names) < 3 or len(shared) < 2:
        return []
    return [
        stray_labels(name, [panel.keys[c] for c in np.flatnonzero(mine & lonely)], shared)
        for name, mine in zip(panel.names, cast, strict=True)
        if (mine & lonely).any()
    ]
