"""What the log of a panel or a path says, and whether more models or rounds are worth it.

*Panel*: the same items were answered by several models. The forecast is for the next odd number of
models of the same kind (:mod:`tallystick.verbs.dynamic.panel`). *Path*: the same held-out items
were
tried in every round on that round's model (:mod:`tallystick.verbs.dynamic.experiment`). Nothing is
simulated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Figure, Interval, Result, Unit, Unknown, points
from tallystick.verbs.dynamic.experiment import (
    PathDecision,
    PathForecast,
    PathPlan,
    forecast_path,
    plan_rounds,
)
from tallystick.verbs.dynamic.log import LogKind, RoundLog, RoundPart
from tallystick.verbs.dynamic.panel import (
    PairErrors,
    PanelDecision,
    PanelForecast,
    forecast_panel,
    wrong_together,
)
from tallystick.verbs.dynamic.question import AnalyseQuestion
from tallystick.verbs.dynamic.result import (
    NOT_DECLARED,
    PANEL_ASSUMPTIONS,
    SAID_TEAMS,
    log_lines,
    log_needed,
    log_table,
    log_verdict,
    path_assumptions,
    round_text,
)
from tallystick.verbs.dynamic.rounds import round_name
from tallystick.verbs.dynamic.validators import NoiseShare, agreements, noise_share

DEFAULT = AnalyseQuestion()

_TELLING, _BY_DESIGN = 20, 0.97
"""Items, and the share of them wrong, from which on a model was probably in the loop."""


def analyse(log: RoundLog, question: AnalyseQuestion = DEFAULT) -> LogResult:
    """Read a log: risk by round, who is wrong together, and what more of the same would bring.

    Parameters
    ----------
    log
        A panel or a path.
    question
        The gain that pays, the price of a round, the level of intervals.

    Examples
    --------
    >>> errors = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 0, 0]], dtype=bool)
    >>> panel = RoundLog(
    ...     kind="panel", items=tuple("vwxyz"), rounds=np.zeros(5, int), round_names=(1,),
    ...     models=("a", "b", "c"), errors=errors,
    ... )
    >>> found = analyse(panel)
    >>> found.advice.decision, found.rounds[0].risk
    ('not worth it', 0.2)
    """
    cost = Unknown("the log has no cost") if log.cost is None else float(log.cost.sum())
    found = _path(log, question) if log.kind == "path" else _panel(log, question)
    return replace(found, cost=cost, models=log.models)


# -- panels


def _panel(log: RoundLog, question: AnalyseQuestion) -> LogResult:
    parts = log.parts()
    thin = [str(part.round) for part in parts if len(part.models) < 2 or not part.where.any()]
    if len(thin) == len(parts):
        raise InputError(
            "no two models answered the same items, so no vote can be looked at: give every item to"
            " at least two models, or name the annotators of an attempt log (--annotator)"
        )
    usable = [part for part in parts if str(part.round) not in thin]
    noise = [_noise(log, part, question.alpha) for part in usable]
    rounds = tuple(
        _panel_round(log, part, share, question) for part, share in zip(usable, noise, strict=True)
    )
    last = rounds[-1]
    forecast = last.forecast
    advice = Advice(
        decision=forecast.decision,
        gain=Gain(estimate=forecast.gain, interval=forecast.interval),
        certain=forecast.certain,
        pays=question.pays,
        more=forecast.more,
        reason=forecast.gain.reason if isinstance(forecast.gain, Unknown) else None,
    )
    warnings = [f"No two models answered the same items of {round_name(name)}." for name in thin]
    warnings += [text for part in usable for text in _in_loop(part)]
    short = [each for each in rounds if each.left_out]
    warnings += [
        f"{each.left_out:,} items of {round_text(each.round)} are left out, because not all of"
        f" {', '.join(each.models)} answered them."
        for each in short
    ]
    return LogResult(
        verdict=log_verdict(advice, last, len(last.models)),
        decision="undecided" if advice.decision == "cannot tell" else "decided",
        needed=log_needed("panel", advice, last.items),
        n_items=len(log.items),
        assumptions=PANEL_ASSUMPTIONS,
        warnings=tuple(warnings),
        kind="panel",
        models=log.models,
        rounds=rounds,
        advice=advice,
        forecast=forecast,
        last_step=Unknown("a panel has no steps"),
        plan=Unknown("a number of rounds is planned for paths"),
        cost=Unknown("the log has no cost"),
        noise=tuple(noise),
    )


def _in_loop(part: RoundPart) -> list[str]:
    """Warn of a model that is wrong on a whole round, as the model in the loop is by design."""
    rates = part.errors.mean(axis=1)
    if part.errors.shape[1] < _TELLING or rates.min() >= _BY_DESIGN:
        return []
    return [
        f"{model} is wrong on nearly every item of {round_name(part.round)}: if the round was"
        " collected against it, that is by design. Leave it out (--models)."
        for model, rate in zip(part.models, rates, strict=True)
        if rate >= _BY_DESIGN
    ]


def _panel_round(
    log: RoundLog, part: RoundPart, noise: NoiseShare, question: AnalyseQuestion
) -> PanelRound:
    from tallystick.stats.intervals import clopper_pearson

    alpha, errors = question.alpha, part.errors
    items = errors.shape[1]
    forecast = forecast_panel(errors, pays=question.pays)
    together = wrong_together(errors, models=part.models, alpha=alpha)
    joint = int(errors.all(axis=0).sum())
    wrong = 2 * errors.sum(axis=0)
    vote = (wrong > len(errors)) + 0.5 * (wrong == len(errors))
    return PanelRound(
        round=part.round,
        models=part.models,
        items=items,
        left_out=part.left_out,
        risk=forecast.risk,
        interval=mean_interval(vote, alpha, (0.0, 1.0)),
        model_risk=float(errors.mean()),
        all_wrong=joint / items,
        all_wrong_interval=clopper_pearson(joint, items, alpha=alpha),
        independent=float(errors.mean(axis=1).prod()),
        forecast=forecast,
        pairs=together.pairs,
        repairable=len(together.repairable),
        fragile=len(together.fragile),
        noise_share=noise.share,
        noise_range=noise.interval,
    )


def _noise(log: RoundLog, part: RoundPart, alpha: float) -> NoiseShare:
    if log.validators is None or log.labels is None:
        lacking = (
            "validator labels"
            if log.validators is None
            else "true label to hold its validators' labels against"
        )
        reason = Unknown(f"the log has no {lacking}")
        return NoiseShare(reason, reason, float("nan"))
    agree, count = agreements(log.validators, log.labels.tolist())
    return noise_share(agree[part.where], count[part.where], alpha=alpha)


# -- paths


def _path(log: RoundLog, question: AnalyseQuestion) -> LogResult:
    known = log.held_out or question.all_held_out
    hidden = None if known else Unknown(NOT_DECLARED)
    teams = SAID_TEAMS if question.teams else other_builders(log.built_as, log.errors)
    forecast = forecast_path(log.errors, pays=question.pays, one_learner=teams is None)
    advice = _path_advice(forecast, hidden, teams)
    rounds = tuple(_path_round(log, t, question.alpha, hidden) for t in range(len(log.models)))
    noise = _noise(log, log.parts()[0], question.alpha)
    return LogResult(
        verdict=log_verdict(advice, rounds[-1], len(rounds)),
        decision="undecided" if advice.decision == "cannot tell" else "decided",
        needed=log_needed("path", advice, len(log.items)),
        n_items=len(log.items),
        assumptions=path_assumptions(teams, forecast=known),
        kind="path",
        models=log.models,
        rounds=rounds,
        advice=advice,
        forecast=forecast,
        last_step=hidden or _last_step(log.errors, question.alpha),
        plan=_plan(question.price),
        cost=Unknown("the log has no cost"),
        noise=(noise,),
    )


def _path_advice(forecast: PathForecast, hidden: Unknown | None, teams: str | None) -> Advice:
    """Return the advice of a forecast; none where the items may have been collected from."""
    if hidden is not None:
        return Advice(
            decision="cannot tell",
            gain=Gain(estimate=hidden, interval=hidden),
            certain=None,
            pays=forecast.pays,
            more=2,
            reason=hidden.reason,
        )
    middle = (
        forecast.interval
        if isinstance(forecast.interval, Unknown)
        else (forecast.interval.low + forecast.interval.high) / 2
    )
    return Advice(
        decision=forecast.decision,
        gain=Gain(estimate=middle, interval=forecast.interval),
        certain=None,
        pays=forecast.pays,
        more=2,
        reason=forecast.reason,
        teams=teams,
    )


def _path_round(log: RoundLog, t: int, alpha: float, hidden: Unknown | None) -> PathRound:
    vote = log.vote(t + 1)
    change: tuple[float | Unknown, Interval | Unknown] = (
        Unknown("it is a first or even round"),
    ) * 2
    if t >= 2 and t % 2 == 0:
        change = _paired(vote - log.vote(t - 1), alpha)
    model: tuple[float | Unknown, Interval | Unknown] = (Unknown("it is the first round"),) * 2
    if t:
        model = _paired(log.errors[t].astype(float) - log.errors[t - 1], alpha)
    if hidden is not None:
        # Items that a round collected were chosen because its model failed on them.
        change = model = (hidden, hidden)
    return PathRound(
        round=log.round_names[t],
        model=log.models[t],
        items=len(log.items),
        risk=float(vote.mean()),
        interval=mean_interval(vote, alpha, (0.0, 1.0)),
        model_risk=float(log.errors[t].mean()),
        change=change[0],
        change_interval=change[1],
        model_change=model[0],
        model_change_interval=model[1],
    )


def _paired(change: Array, alpha: float) -> tuple[float, Interval]:
    return float(change.mean()), mean_interval(change, alpha, (-1.0, 1.0))


def _last_step(errors: Array, alpha: float) -> StepChange | Unknown:
    rounds = len(errors) - (1 - len(errors) % 2)
    if rounds < 3:
        return Unknown("a step of two rounds needs three rounds")
    return step_change(errors[:rounds], alpha=alpha)


def _plan(price: float | None) -> PathPlan | Unknown:
    return Unknown("no price was stated (--price)") if price is None else plan_rounds(price)


def mean_interval(values: Array, alpha: float, bounds: tuple[float, float]) -> Interval:
    """Return an interval for the mean: exact where the values are yes or no, Student's with
    pseudo-items where ties put fractions among them.

    >>> [round(end, 3) for end in mean_interval(np.array([0.0, 1.0, 1.0, 0.0]), 0.05, (0.0, 1.0))]
    [0.068, 0.932]
    """
    from tallystick.stats.intervals import clopper_pearson, pseudo_t

    if bounds == (0.0, 1.0) and np.all((values == 0) | (values == 1)):
        return clopper_pearson(int(values.sum()), values.size, alpha=alpha)
    if values.size < 2:
        return Interval(*bounds, level=1 - alpha, guarantee="exact", method="bounds")
    return pseudo_t(
        float(values.mean()), float(values.var(ddof=1)), values.size, alpha=alpha, bounds=bounds
    )


# What the log of a panel or a path says: rounds, advice, and who is wrong together.


@dataclass(frozen=True, kw_only=True)
class Gain:
    """A fall of the vote's risk: the estimate and its 90 % range."""

    estimate: float | Unknown
    interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Whether more models, or two more rounds, are worth it.

    Parameters
    ----------
    decision
        Panel: ``worth it``, ``not worth it`` or ``cannot tell``. Path: ``go on``, ``stop`` or
        ``cannot tell``.
    gain
        By how much the risk of the vote would fall.
    certain
        Panel: the gain is in here whatever the new models are.
    pays
        The gain that pays, as the user stated it.
    more
        How many models, or rounds, are meant.
    reason
        Why nothing can be told, where the range alone does not say it.
    teams
        Path: why the rounds count as built by different teams, which gives a wider range; None for
        one learner that is retrained.
    """

    decision: PanelDecision | PathDecision
    gain: Gain
    certain: tuple[float, float] | None
    pays: float
    more: int
    reason: str | None = None
    teams: str | None = None


@dataclass(frozen=True, kw_only=True)
class PanelRound:
    """One round of a panel: its items, and what the models do on them.

    Parameters
    ----------
    models, items, left_out
        Models that answered all of these items, and items that were left out because some of these
        models did not answer them.
    risk, interval
        Share of items that the vote gets wrong.
    model_risk
        Mean risk of the single models.
    all_wrong, all_wrong_interval, independent
        Share of items that every model gets wrong, and what independent errors would give.
    forecast
        What more models in the vote would bring on these items.
    pairs
        Which models are wrong together, the largest excess first.
    repairable, fragile
        How many items the next models could repair, or break.
    noise_share, noise_range
        Share of random labels, from validators.
    """

    round: Any
    models: tuple[str, ...]
    items: int
    left_out: int
    risk: float
    interval: Interval
    model_risk: float
    all_wrong: float
    all_wrong_interval: Interval
    independent: float
    forecast: PanelForecast
    pairs: tuple[PairErrors, ...]
    repairable: int
    fragile: int
    noise_share: float | Unknown
    noise_range: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class PathRound:
    """One round of a path, on the same items as all the others.

    Parameters
    ----------
    risk, interval
        Share of items that the vote of all models so far gets wrong.
    model_risk
        Risk of the round's own model.
    change, change_interval
        Vote against the vote two rounds before, paired by item; negative is better.
    model_change, model_change_interval
        The round's model against the model before, paired by item.
    """

    round: Any
    model: str
    items: int
    risk: float
    interval: Interval
    model_risk: float
    change: float | Unknown
    change_interval: Interval | Unknown
    model_change: float | Unknown
    model_change_interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class LogResult(Result):
    """What the log of a panel or a path says.

    Parameters
    ----------
    rounds
        By round.
    advice
        Whether more models (panel, on the last round's items) or two more rounds (path) are worth
        it.
    last_step
        Path: whether the last two rounds changed the risk, tested after the fact.
    plan
        Path: how many rounds to plan at the stated price.
    """

    verb: ClassVar[str] = "dynamic"

    action: str = "analyse"
    kind: LogKind
    models: tuple[str, ...]
    rounds: tuple[PanelRound | PathRound, ...]
    advice: Advice
    forecast: PanelForecast | PathForecast
    last_step: StepChange | Unknown
    plan: PathPlan | Unknown
    cost: float | Unknown
    noise: tuple[NoiseShare, ...] = field(default=(), repr=False, metadata={"private": True})

    def terminal(self, width: int) -> list[tuple[str, str]]:
        """Return the lines that a terminal shows, each with its style."""
        del width
        return log_lines(self)

    def summary(self) -> str:
        """Return plain text to paste."""
        from tallystick.results import harmless

        return "\n".join(harmless(text) for text, _ in log_lines(self))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round."""
        return log_table(self)

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        shares: dict[str, Unit] = dict.fromkeys(
            ("risk", "model_risk", "all_wrong", "independent"), "share"
        )
        return {**shares, "change": "points", "gain": "points"}

    def figures(self) -> tuple[Figure, ...]:
        """Return the risk by round; for panels also who is wrong together in the last one."""
        known = self.rounds
        risks = Figure(
            "rounds",
            "Share of items that the vote gets wrong, by round",
            {
                "round": [str(each.round) for each in known],
                "risk": [each.risk for each in known],
                "low": [each.interval.low for each in known],
                "high": [each.interval.high for each in known],
            },
            {"x": "round", "y": "risk", "low": "low", "high": "high"},
            {"y": "risk of the vote"},
            unit="share",
        )
        last = known[-1]
        if not isinstance(last, PanelRound):
            return (risks,)
        sides = [(pair.first, pair.second, pair.excess) for pair in last.pairs]
        sides += [(second, first, excess) for first, second, excess in sides]
        together = Figure(
            "matrix",
            f"Wrong together more often than independent models would be, {round_name(last.round)}",
            {
                "model": [first for first, _, _ in sides],
                "and": [second for _, second, _ in sides],
                "excess": [excess for _, _, excess in sides],
            },
            {"row": "model", "column": "and", "value": "excess"},
            unit="points",
        )
        return risks, together


# Whether the rounds of a path were built by one learner or by different teams.
#
# The narrow range of :func:`~tallystick.verbs.dynamic.experiment.forecast_path` holds for one
# learner that is retrained. Two signs speak against that: the models of the rounds have different
# names, or they differ in their own error rates more than models of one learner do.
#
# The second sign was chosen on 280 simulated campaigns of one learner and 500 of mixed teams, of
# kinds that the published score does not use (``docs/benchmarks/dynamic.md``): 96 % of the
# decisions on mixed teams show it, and 54 % of those on one learner, most of which cannot be told
# anyway. What no log shows is a mixture whose models happen to be equally good: three such rounds
# look like three rounds of one learner, and there the advice to go on was wrong in 5 of 21 cases.


FAR_APART = 0.04
"""Standard deviation of the rounds' own error rates above which they count as different teams.

Wrong advice on mixed teams under one name, at .03 / .04 / .06 / never: 2.4 / 4.4 / 8.4 / 8.3 % of
what was decided; decisions kept on one learner: 69 / 80 / 90 / 100 %. At .04 no more than 5 % are
wrong on 400 and on 1000 held-out items. That is half of what is allowed.
"""

_NUMBERED = re.compile(r"(?:(?<![a-z])(?:round|version|iteration|step|rev|run|r|v|t))?[\W_]*\d+")


def other_builders(names: Sequence[str], errors: Array) -> str | None:
    """Say why the rounds seem to be built by different teams; None where nothing speaks for it.

    Parameters
    ----------
    names
        What the log calls the model of each round. Numbers of rounds and versions do not count.
    errors
        (rounds, items), on the held-out set.

    Examples
    --------
    >>> import numpy as np
    >>> alike = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0]], dtype=bool)
    >>> other_builders(["bert-r1", "bert-r2", "bert-r3"], alike)
    >>> other_builders(["bert-r1", "roberta-r2", "roberta-r3"], alike)
    'the rounds have models of different names (bert, roberta)'
    >>> other_builders(["m", "m", "m"], np.array([[1, 1, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0]]))
    "the rounds' models differ by 38.2 points (standard deviation) in their own error rate"
    """
    stems = list(dict.fromkeys(_stem(name) for name in names))
    if len(stems) > 1:
        shown = ", ".join(stems[:3]) + (", …" if len(stems) > 3 else "")
        return f"the rounds have models of different names ({shown})"
    apart = float(errors.mean(axis=1).std(ddof=1)) if len(errors) > 1 else 0.0
    if apart > FAR_APART:
        return (
            f"the rounds' models differ by {points(apart, sign=False)} (standard deviation) in"
            " their own error rate"
        )
    return None


def _stem(name: str) -> str:
    """Return a name without numbers of rounds and versions.

    >>> [_stem(name) for name in ("bert-r1", "Model v2.1", "m2", "round 3", "t5-base r4", "7")]
    ['bert', 'model', 'm', '', 'base', '']
    """
    return _NUMBERED.sub("", name.lower()).strip(" -_.:/()")


# Did the last two rounds lower the risk? An exact test after the fact, which is not a forecast.


_FEWEST_ROUNDS = 3


@dataclass(frozen=True, kw_only=True)
class StepChange:
    """Whether the last two rounds changed the risk: an exact sign test, not a forecast.

    Parameters
    ----------
    repaired, broken
        Items whose majority verdict changed from wrong to right, and from right to wrong.
    p_lower, p_higher
        One-sided p-values of "the risk is lower" and "the risk is higher".
    level
        The level at this look.
    proved
        ``lower``, ``higher`` or None.
    """

    repaired: int
    broken: int
    p_lower: float
    p_higher: float
    level: float
    proved: Literal["lower", "higher"] | None


def step_change(errors: Array, *, alpha: float = 0.05, look: int | None = None) -> StepChange:
    r"""Test after the fact whether the last two rounds lowered the risk.

    Among the items whose majority verdict changed, b repaired and c broken, b is binomial with
    probability 1/2 if the risk did not change:

    .. math:: p = \Pr(\mathrm{Bin}(b+c, \tfrac12) \ge b).  \tag{Q4}

    Parameters
    ----------
    errors
        Booleans of shape (rounds, items), an odd number of rounds from three on.
    alpha
        The level of a single look.
    look
        Which look this is, from 1, if you test after every step and want to be right over all
        looks: the level becomes :math:`\alpha/(j(j+1))`.

    Examples
    --------
    >>> errors = np.zeros((3, 100), dtype=bool)
    >>> errors[0, :9] = True  # rounds 2 and 3 get all of these right
    >>> found = step_change(errors)
    >>> found.repaired, found.broken, round(found.p_lower, 4), found.proved
    (9, 0, 0.002, 'lower')
    """
    from scipy.special import bdtrc

    wrong = np.asarray(errors, dtype=bool)
    if wrong.ndim != 2 or len(wrong) < _FEWEST_ROUNDS or len(wrong) % 2 == 0:
        raise InputError(
            "errors need an odd number of rounds, three or more, so that no vote is tied: "
            f"got the shape {wrong.shape}"
        )
    if not 0 < alpha < 1 or (look is not None and look < 1):
        raise InputError(f"alpha must be in (0, 1) and look from 1 on, got {alpha!r}, {look!r}")

    now = 2 * wrong.sum(axis=0) > len(wrong)
    before = 2 * wrong[:-2].sum(axis=0) > len(wrong) - 2
    repaired, broken = int((before & ~now).sum()), int((~before & now).sum())
    changed = repaired + broken
    # (Q4): bdtrc(k, n, p) is the probability of more than k.
    lower = float(bdtrc(repaired - 1, changed, 0.5)) if repaired else 1.0
    higher = float(bdtrc(broken - 1, changed, 0.5)) if broken else 1.0
    level = alpha if look is None else alpha / (look * (look + 1))
    return StepChange(
        repaired=repaired,
        broken=broken,
        p_lower=lower,
        p_higher=higher,
        level=level,
        proved="lower" if lower <= level else "higher" if higher <= level else None,
    )
