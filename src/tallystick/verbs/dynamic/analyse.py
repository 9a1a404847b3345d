"""What the log of a dynamic benchmark says, in the order in which its owner asks.

How the latest model does, round by round, and whether that changed; what a vote of the rounds'
models would add; what is certain whatever comes; and only then a forecast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from tallystick.papers.dynamic_benchmarks.designs import Array, majority_share
from tallystick.results import Figure, Interval, Needed, Result, Unit, Unknown, numbers
from tallystick.verbs.dynamic.forecast import (
    FEWEST_ITEMS,
    Forecast,
    Gain,
    forecast_panel,
    forecast_path,
    other_builders,
)
from tallystick.verbs.dynamic.log import ONE_ROUND, LogKind, RoundLog, ends_of, round_name
from tallystick.verbs.dynamic.question import AnalyseQuestion

DEFAULT = AnalyseQuestion()

_TELLING, _BY_DESIGN = 20, 0.97
"""Items, and the share of them wrong, from which on a model was in the loop that collected them."""

_MOST_WARNINGS = 3
"""Of rounds whose vote is without a model, so many are named: the last ones."""

NOT_DECLARED = "the log does not say that its items were held out"

_NO_VOTE = Unknown("a vote needs two models that answered the same items")
_NO_ORDER = Unknown("the names of the rounds do not say their order")
_ONE_ROUND = Unknown("it needs two rounds whose items judge the model")
_ONLY_PATHS = Unknown("only the rounds of a path are judged on the same items")


@dataclass(frozen=True, kw_only=True)
class ShareChange:
    """A difference of two shares that are right, and whether it is settled.

    Parameters
    ----------
    first, estimate, interval
        Against what; the share now minus the share then.
    paired
        Whether both are of the same items.
    settled
        ``better``, ``worse`` or None, by McNemar's test where the items are the same.
    """

    first: str
    estimate: float
    interval: Interval
    paired: bool
    settled: Literal["better", "worse"] | None


@dataclass(frozen=True, kw_only=True)
class Vote:
    """What a vote of the models would add to the latest one.

    Parameters
    ----------
    rule
        ``plurality``: the answer that most give, ties split by chance. ``more than half``, where
        only right and wrong are known: an item is wrong if more than half err, and half of it if
        half do.
    risk, interval
        Share of items that the vote gets wrong.
    change
        The vote against the latest model on the same items.
    """

    models: tuple[str, ...]
    rule: Literal["plurality", "more than half"]
    risk: float
    interval: Interval
    change: ShareChange


@dataclass(frozen=True, kw_only=True)
class LogRound:
    """One round.

    Parameters
    ----------
    round, model, items
        Its name, the model that is judged in it, and on how many items.
    accuracy, accuracy_interval
        Share of the items that the model gets right.
    by_design
        Whether the items were collected against this very model, so that they do not judge it.
    change
        Path: the model against that of the round before.
    risk, interval
        Share of items that the vote gets wrong: path, of all models so far; panel, of all models.
    all_wrong, independent
        Panel: share of items that every model gets wrong, and what independent errors would give.
    """

    round: Any
    model: str
    items: int
    accuracy: float | Unknown
    accuracy_interval: Interval | Unknown
    by_design: bool = False
    change: ShareChange | Unknown = _ONLY_PATHS
    risk: float | Unknown = _NO_VOTE
    interval: Interval | Unknown = _NO_VOTE
    all_wrong: float | Unknown = _NO_VOTE
    independent: float | Unknown = _NO_VOTE


@dataclass(frozen=True, kw_only=True)
class LogResult(Result):
    """What the log of a panel, a path or of single rounds says.

    Parameters
    ----------
    latest
        The model that the answer is about: that of the last round, or the last of a panel.
    held_out
        Whether the items are known to be a random set that no round was trained on.
    change
        The latest model since the first round.
    vote, advice
        What a vote would add, and what more models or rounds would; unknown without several models.
    log
        What was read, for whoever lists the items.
    """

    verb: ClassVar[str] = "dynamic"
    schema: ClassVar[int] = 2

    action: str = "analyse"
    kind: LogKind
    models: tuple[str, ...]
    latest: str
    held_out: bool
    rounds: tuple[LogRound, ...]
    change: ShareChange | Unknown
    vote: Vote | Unknown
    advice: Forecast | Unknown
    log: RoundLog | None = field(
        default=None, repr=False, compare=False, metadata={"private": True}
    )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round."""
        path = self.kind == "path"
        vote = "vote_so_far_wrong" if path else "vote_wrong"
        voted = any(isinstance(one.risk, float) for one in self.rounds)
        rows = []
        for each in self.rounds:
            row = {"round": each.round, "model": each.model, "items": each.items}
            row |= {"right": each.accuracy, "right_interval": each.accuracy_interval}
            if path:
                moved = each.change if isinstance(each.change, ShareChange) else None
                row["against_round_before"] = moved and moved.estimate
                row["against_round_before_interval"] = moved and moved.interval
            if voted:
                row |= {vote: each.risk, f"{vote}_interval": each.interval}
            rows.append(row)
        return rows

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        shares: dict[str, Unit] = dict.fromkeys(
            ("right", "vote_wrong", "vote_so_far_wrong"), "share"
        )
        return {**shares, "against_round_before": "points"}

    def figures(self) -> tuple[Figure, ...]:
        """Return the share that is right by round."""
        right = [one.accuracy if isinstance(one.accuracy, float) else None for one in self.rounds]
        columns: dict[str, Sequence[Any]] = {
            "round": [str(each.round) for each in self.rounds],
            "right": right,
            **ends_of([each.accuracy_interval for each in self.rounds]),
        }
        roles = {"x": "round", "y": "right", "low": "low", "high": "high"}
        who = self.latest if self.kind == "panel" else "the model of each round"
        title = f"Share of items that {who} gets right"
        return (Figure("rounds", title, columns, roles, {"y": "right"}, unit="share"),)


def analyse(log: RoundLog, question: AnalyseQuestion = DEFAULT) -> LogResult:
    """Answer the owner of a benchmark from its log.

    Examples
    --------
    >>> errors = np.array([[1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 0, 0, 0, 0]], dtype=bool)
    >>> panel = RoundLog(
    ...     kind="panel", items=tuple("vwxyz"), rounds=np.zeros(5, int), round_names=(1,),
    ...     models=("a", "b", "c"), errors=errors, answered=np.ones((3, 5), bool),
    ... )
    >>> found = analyse(panel)
    >>> found.latest, found.rounds[0].accuracy, found.vote.risk, found.advice.decision
    ('c', 0.8, 0.2, 'not worth it')
    """
    held_out = log.held_out
    votes = [_voters(log, place) for place in range(len(log.round_names))]
    voters, where, _ = votes[-1]
    rounds = _rounds(log, votes, question.alpha)
    change = _since_first(log, rounds, question.alpha)
    vote = _vote(log, voters, where, question.alpha)
    advice = _advice(log, voters, where, question, held_out=held_out)
    changes = (change, vote.change if isinstance(vote, Vote) else None)
    told = any(isinstance(one, ShareChange) and one.settled for one in changes)
    told = told or (isinstance(advice, Forecast) and advice.decision != "cannot tell")
    known = LogResult(
        verdict="to be said",
        decision="decided" if told else "undecided",
        needed=None if told else _needed(rounds, change),
        n_items=len(log.items),
        assumptions=_assumptions(advice),
        kind=log.kind,
        models=log.models,
        latest=log.models[-1],
        held_out=held_out,
        rounds=rounds,
        change=change,
        vote=vote,
        advice=advice,
        log=log,
    )
    sentences = _sentences(known, log)
    said = [text for *_, texts in votes for text in texts][-_MOST_WARNINGS:]
    warnings = (*said, *_warnings(known))
    return replace(known, verdict=sentences.verdict, sentences=sentences, warnings=warnings)


# -- who votes, on which items


_Voters: TypeAlias = tuple[list[int], Array, list[str]]
"""The models that vote in a round, its items that all of them answered, and who was left out."""


def _voters(log: RoundLog, place: int) -> _Voters:
    """Say who votes in the round at *place*."""
    where = log.items_of(place)
    if log.kind != "panel":
        # Each round of a path has all models so far; without common items nobody votes.
        return list(range(place + 1)) if log.kind == "path" else [], where, []
    everyone, there = log.together(where)
    which, said = round_name(log.round_names[place]), []
    if left_out := [name for k, name in enumerate(log.models) if k not in everyone]:
        names = ", ".join(left_out)
        said.append(f"The vote of {which} is without {names}, who answered too few of its items.")

    # A model that is wrong on a whole round was in the loop that collected it. Its vote there says
    # nothing, so it is left out where other models are not of that kind.
    if there.sum() < _TELLING:
        return everyone, there, said
    kept = [k for k in everyone if log.errors[k, there].mean() < _BY_DESIGN]
    if not 1 < len(kept) < len(everyone):
        return everyone, there, said
    names = ", ".join(log.models[k] for k in everyone if k not in kept)
    said.append(
        f"{names} is wrong on nearly every item of {which}: if the round was collected against it,"
        " that is by design. It has no vote."
    )
    return kept, where & log.answered[kept].all(axis=0), said


def _errors_of_vote(log: RoundLog, voters: list[int], where: Array) -> tuple[Array, bool]:
    """Return where the vote errs (a tie in part), and whether it is a plurality of answers."""
    if log.predictions is None or log.labels is None:
        wrong = log.errors[voters][:, where].sum(axis=0)
        return np.asarray(majority_share(wrong, len(voters))), False
    from tallystick.papers.dynamic_benchmarks.rollouts import plurality

    return plurality(log.predictions[voters][:, where], log.labels[where]), True


# -- estimates


def share_wrong(errors: Array, alpha: float) -> tuple[float, Interval]:
    """Return the share of items that are wrong: an exact interval where none is split by a tie.

    >>> [round(end, 3) for end in share_wrong(np.array([0.0, 1.0, 1.0, 0.0]), 0.05)[1]]
    [0.068, 0.932]
    """
    from tallystick.stats.intervals import clopper_pearson, pseudo_t

    mean = float(errors.mean())
    if np.all((errors == 0) | (errors == 1)):
        return mean, clopper_pearson(int(errors.sum()), errors.size, alpha=alpha)
    if errors.size < 2:
        return mean, Interval(0.0, 1.0, level=1 - alpha, guarantee="exact", method="bounds")
    return mean, pseudo_t(mean, float(errors.var(ddof=1)), errors.size, alpha=alpha)


def paired_change(before: Array, after: Array, first: str, *, alpha: float = 0.05) -> ShareChange:
    """Return how errors on the same items changed: Tango's interval and McNemar's test.

    >>> change = paired_change(np.repeat([1, 0], [9, 41]), np.repeat([0, 1], [49, 1]), "a")
    >>> change.estimate, change.settled
    (0.16, 'better')
    """
    from tallystick.stats.intervals import pseudo_t
    from tallystick.stats.two_accuracies import paired_test, tango

    gain, size = before - after, before.size
    if np.all((gain == 0) | (np.abs(gain) == 1)):
        better, worse = int((gain == 1).sum()), int((gain == -1).sum())
        interval = tango(better, worse, size, alpha=alpha)[0]
        if float(paired_test(better, worse, size)) > alpha:
            # What its own test does not tell apart is not told apart by the interval either.
            low, high = min(interval.low, -1e-9), max(interval.high, 1e-9)
            interval = replace(interval, low=low, high=high)
    elif size < 2:
        interval = Interval(-1.0, 1.0, level=1 - alpha, guarantee="exact", method="bounds")
    else:
        mean, spread = float(gain.mean()), float(gain.var(ddof=1))
        interval = pseudo_t(mean, spread, size, alpha=alpha, bounds=(-1.0, 1.0))
    return _change(first, float(gain.mean()), interval, paired=True)


def _change(first: str, estimate: float, interval: Interval, *, paired: bool) -> ShareChange:
    settled: Literal["better", "worse"] | None = None
    if interval.low > 0 or interval.high < 0:
        settled = "better" if interval.low > 0 else "worse"
    return ShareChange(
        first=first, estimate=estimate, interval=interval, paired=paired, settled=settled
    )


# -- rounds


def _rounds(log: RoundLog, votes: Sequence[_Voters], alpha: float) -> tuple[LogRound, ...]:
    found = []
    for t, name in enumerate(log.round_names):
        model = t if log.kind != "panel" else len(log.models) - 1
        where = log.items_of(t)
        own = where & log.answered[model]
        row: dict[str, Any] = {"round": name, "model": log.models[model], "items": int(own.sum())}
        row["accuracy"] = row["accuracy_interval"] = Unknown("it answered no item of this round")
        if own.any():
            wrong, span = share_wrong(log.errors[model][own].astype(float), alpha)
            looped = log.kind != "path" and row["items"] >= _TELLING and wrong >= _BY_DESIGN
            right = replace(span, low=1 - span.high, high=1 - span.low)
            row |= {"accuracy": 1 - wrong, "accuracy_interval": right, "by_design": looped}
        if log.kind == "path" and t:
            before, after = (log.errors[k].astype(float) for k in (t - 1, t))
            change = paired_change(before, after, log.models[t - 1], alpha=alpha)
            row["change"] = change if log.ordered else _NO_ORDER

        chosen, whole, _ = votes[t]
        if len(chosen) > 1 and whole.any():
            risk, interval = share_wrong(_errors_of_vote(log, chosen, whole)[0], alpha)
            every = log.errors[chosen][:, whole]
            row |= {
                "risk": risk,
                "interval": interval,
                "all_wrong": float(every.all(axis=0).mean()),
            }
            row["independent"] = float(every.mean(axis=1).prod())
        found.append(LogRound(**row))
    return tuple(found)


def _since_first(
    log: RoundLog, rounds: tuple[LogRound, ...], alpha: float
) -> ShareChange | Unknown:
    """Return how the latest model's share changed since the first round that judges it."""
    from tallystick.stats.intervals import difference_ends, wilson

    usable = [k for k, each in enumerate(rounds) if each.items and not each.by_design]
    if not log.ordered or len(usable) < 2:
        return _ONE_ROUND if log.ordered else _NO_ORDER
    first, last = usable[0], usable[-1]
    name = round_name(rounds[first].round)
    if log.kind == "path":
        before, after = (log.errors[k].astype(float) for k in (first, last))
        return paired_change(before, after, name, alpha=alpha)

    # Other items: the difference of two shares, from the interval of each (Newcombe).
    ends = []
    for each in (rounds[last], rounds[first]):
        share = each.accuracy if isinstance(each.accuracy, float) else 0.0
        ends.append((share, *wilson(round(share * each.items), each.items, alpha=alpha)))
    low, high = map(float, difference_ends(ends[0], ends[1], shared=0.0, correlation=0.0))
    interval = Interval(low, high, level=1 - alpha, guarantee="approximate", method="newcombe")
    return _change(name, ends[0][0] - ends[1][0], interval, paired=False)


def _vote(log: RoundLog, voters: list[int], where: Array, alpha: float) -> Vote | Unknown:
    """Return what a vote adds to the latest model on the items of the last round."""
    latest = len(log.models) - 1
    if len(voters) < 2 or not where.any() or latest not in voters:
        return _NO_VOTE
    vote, plural = _errors_of_vote(log, voters, where)
    risk, interval = share_wrong(vote, alpha)
    own = log.errors[latest][where].astype(float)
    return Vote(
        models=tuple(log.models[k] for k in voters),
        rule="plurality" if plural else "more than half",
        risk=risk,
        interval=interval,
        change=paired_change(own, vote, log.models[latest], alpha=alpha),
    )


def _advice(
    log: RoundLog, voters: list[int], where: Array, question: AnalyseQuestion, *, held_out: bool
) -> Forecast | Unknown:
    """Return what is certain of more models, and the forecast."""
    if len(voters) < 2 or not where.any() or not log.ordered:
        return _NO_VOTE if log.ordered else _NO_ORDER
    errors = log.errors[voters][:, where]
    if log.kind == "panel":
        return forecast_panel(errors, pays=question.pays)
    teams = other_builders(log.built_as, errors)
    found = forecast_path(errors, pays=question.pays, teams=teams)
    if held_out:
        return found
    hidden = Gain(estimate=Unknown(NOT_DECLARED), interval=Unknown(NOT_DECLARED))
    return replace(found, decision="cannot tell", gain=hidden, reason=NOT_DECLARED)


# The sentences of an answer: the only place where they are made.


def _sentences(result: LogResult, log: RoundLog) -> numbers.Sentences:
    """Return the answer in the owner's order."""
    vote, advice, last = result.vote, result.advice, ""
    plural_vote = isinstance(vote, Vote) and vote.rule == "plurality"
    if isinstance(advice, Forecast):
        last = f"{_certain(advice, named=not plural_vote)} {_forecast(result, advice)}"
    return numbers.Sentences(
        answer=_latest(result, log),
        contrast="" if isinstance(vote, Unknown) else _vote_text(vote),
        open=last,
        next=_next(result),
    )


def _latest(result: LogResult, log: RoundLog) -> str:
    """Say how the latest model does, and whether that changed."""
    last = next((each for each in reversed(result.rounds) if not each.by_design), None)
    span = None if last is None else last.accuracy_interval
    if last is None or not isinstance(span, Interval) or not isinstance(last.accuracy, float):
        return (
            f"{result.latest} is wrong on nearly every item of its rounds, as a model in the loop"
            " is by design: these items do not judge it."
        )
    named = f"{last.model}, the last one named" if result.kind == "panel" else last.model
    shown = numbers.percent_interval(last.accuracy, span)
    apart = result.kind != "path" and last.round != ONE_ROUND
    where = f" of {round_name(last.round)}" if apart else ""
    kept = f"{'held-out ' * result.held_out}{numbers.plural('item', last.items)}"
    text = (
        f"The {'latest' if log.ordered else 'last listed'} model ({named}) is right on {shown} of"
        f" {numbers.count(last.items)} {kept}{where}"
    )
    change = result.change
    if isinstance(change, Unknown):
        return f"{text}."
    moved = numbers.points_interval(change.estimate, change.interval)
    if change.paired:
        way = f"{change.settled} than" if change.settled else "no change is shown since"
        return f"{text}: {way} {change.first}, {moved}."
    than = {"better": "more than on", "worse": "less than on"}
    way = than.get(change.settled or "", "no settled difference from")
    return (
        f"{text}, {way} those of {change.first} ({moved}). The items are different ones, so this is"
        " no change of the model alone."
    )


def _vote_text(vote: Vote) -> str:
    """Say what a vote would add to the latest model."""
    moved = numbers.points_interval(vote.change.estimate, vote.change.interval)
    words = {"better": f"would add to it: {moved}", "worse": f"would be worse: {moved}"}
    said = words.get(vote.change.settled or "", f"is not shown to differ from it: {moved}")
    rule = "" if vote.rule == "plurality" else " (wrong where more than half of them err)"
    right = numbers.percent(1 - vote.risk)
    return f"A vote of {len(vote.models)} models{rule} is right on {right} and {said}."


def _certain(advice: Forecast, *, named: bool) -> str:
    """Say what is certain whatever comes; the rule of the vote may be *named* already."""
    worse, better = (numbers.points(abs(end), sign=False) for end in advice.certain)
    rule = "" if named else " (wrong where more than half err)"
    return (
        f"Certain whatever comes: on these items {_who(advice, 'model')} can make the vote{rule} at"
        f" most {worse} worse or {better} better."
    )


def _who(advice: Forecast, kind: str) -> str:
    return f"one more {kind}" if advice.more == 1 else f"two more {kind}s"


def _forecast(result: LogResult, advice: Forecast) -> str:
    """Say in one short line what the forecast says."""
    who = _who(advice, "round" if result.kind == "path" else "model")
    span = advice.gain.interval
    if isinstance(span, Unknown):
        return f"Forecast for {who}: none, because {span.reason}."
    pays = f" by {numbers.points(advice.pays, sign=False)} or more" if advice.pays else ""
    yes, no = f"the vote would get better{pays}", f"the vote would not get better{pays}"
    said = {"go on": f"go on, {yes}", "worth it": yes, "stop": f"stop, {no}", "not worth it": no}
    why = f"; {advice.reason}" if advice.reason else ""
    shown = f"{numbers.points(span.low)} to {numbers.points(span.high)}, 90% range"
    return (
        f"Forecast for {who} like these: {said.get(advice.decision, 'cannot tell')} ({shown}){why}."
    )


def _needed(rounds: tuple[LogRound, ...], change: ShareChange | Unknown) -> Needed | None:
    """Return about how many more items would settle a change of the size that was seen."""
    if isinstance(change, Unknown) or not change.estimate:
        return None
    now = max(each.items for each in rounds)
    half = (change.interval.high - change.interval.low) / 2
    more = int(now * ((half / abs(change.estimate)) ** 2 - 1)) + 1
    where = "that every round is tried on" if change.paired else "per round"
    said = f"items {where}, to settle a change as large as the one seen"
    return Needed(more, said) if 0 < more < 1_000_000 else None


def _next(result: LogResult) -> str:
    if result.kind != "path":
        if len(result.rounds) < 2:
            return ""
        return (
            "Next: keep one random set of items that no round collects from or trains on, and try"
            " every round's model on it. Only that shows whether the model changed."
        )
    if not result.held_out:
        return (
            "Next: add a column that says 1 of items that no round was trained on or collected"
            " from, and 0 of others (--held-out COLUMN)."
        )
    few = result.n_items < FEWEST_ITEMS
    return f"Next: try every round on at least {FEWEST_ITEMS} held-out items." if few else ""


def _assumptions(advice: Forecast | Unknown) -> tuple[str, ...]:
    found = ["items are a random sample of those that they stand for, and the labels are right"]
    if isinstance(advice, Forecast) and isinstance(advice.gain.interval, Interval):
        why = f", because {advice.teams}" if advice.teams else ""
        found.append(f"the forecast: {advice.gain.interval.assumption}{why}")
    return tuple(found)


def _warnings(result: LogResult) -> list[str]:
    """Return what would change how a sensible reader uses the answer."""
    found = []
    if result.kind == "path" and not result.held_out:
        found.append(
            "The log does not say that its items were held out. If a round was trained on them or"
            " collected from them, the change says nothing about new items."
        )
    looped = [each for each in result.rounds if each.by_design]
    if looped and len(looped) < len(result.rounds):
        names = ", ".join(round_name(each.round) for each in looped[:4])
        found.append(
            f"{looped[-1].model} is wrong on nearly every item of {names}: if they were collected"
            " against it, that is by design and no measure of the model."
        )
    return found
