"""What the log of a panel or a path says, and whether more models or rounds are worth it.

*Panel*: the same items were answered by several models. The forecast is for the next odd number of
models of the same kind (:mod:`tallystick.dynamic.panel`). *Path*: the same held-out items were
tried in every round on that round's model (:mod:`tallystick.dynamic.path_forecast`). Nothing is
simulated.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallystick.dynamic.log import RoundLog, RoundPart
from tallystick.dynamic.log_result import Advice, Gain, LogResult, PanelRound, PathRound
from tallystick.dynamic.one_learner import other_builders
from tallystick.dynamic.panel import forecast_panel
from tallystick.dynamic.path_forecast import PathForecast, forecast_path
from tallystick.dynamic.plan_rounds import PathPlan, plan_rounds
from tallystick.dynamic.population import Array
from tallystick.dynamic.question import AnalyseQuestion
from tallystick.dynamic.rounds import round_name
from tallystick.dynamic.step_change import StepChange, step_change
from tallystick.dynamic.validators import NoiseShare, agreements, noise_share
from tallystick.dynamic.verdict import (
    NOT_DECLARED,
    PANEL_ASSUMPTIONS,
    SAID_TEAMS,
    log_needed,
    log_verdict,
    path_assumptions,
    round_text,
)
from tallystick.dynamic.wrong_together import wrong_together
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown

__all__ = ["analyse"]

DEFAULT = AnalyseQuestion()

_TELLING, _BY_DESIGN = 20, 0.97
"""Items, and the share of them wrong, from which on a model was probably in the loop."""


def analyse(log: RoundLog, question: AnalyseQuestion = DEFAULT) -> LogResult:
    """Read a log: risk by round, who is wrong together, and what more of the same would bring.

    Parameters
    ----------
    log
        A panel or a path. An item of weight w counts as w items that were seen alike.
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
    seen = log.repeated()
    cost = Unknown("the log has no cost") if seen.cost is None else float(seen.cost.sum())
    found = _path(seen, question) if seen.kind == "path" else _panel(seen, question)
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
