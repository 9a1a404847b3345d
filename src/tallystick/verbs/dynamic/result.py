"""What theory and simulations of a dynamic benchmark hold: rounds, and what bounds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from tallystick.results import Figure, Interval, Needed, Result, Unknown
from tallystick.results.numbers import (
    aligned,
    count,
    number,
    percent,
    percent_interval,
    points,
    points_interval,
)
from tallystick.verbs.dynamic.rounds import round_name

if TYPE_CHECKING:
    from tallystick.verbs.dynamic.analyse import Advice, LogResult, PanelRound, PathRound
    from tallystick.verbs.dynamic.simulate import Collection

Action: TypeAlias = Literal["theory", "simulate"]

_HEADS = {"worst_case": "at_worst", "lower_bound": "nothing_promised_below"}
"""What the table calls the two bounds, so that nobody reads them as an interval."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One round; the first one is 1.

    Parameters
    ----------
    risk, interval
        Majority risk of the models so far, with what *interval* says of it.
    epsilon
        Risk of the round's own model on the distribution it was trained on.
    worst_case, lower_bound
        No path of such models has a higher majority risk; nothing is promised below the other
        (single rollouts may well lie there).
    z
        Similarity to the bad sequence of Theorem 3.5.
    noise_share
        Share of the round's data whose labels are random.
    control
        Majority risk of as many models trained on the plain data: a static ensemble.
    fresh
        The same with fresh random data mixed in where a path mixes in errors, at the same number of
        labels.
    """

    round: int
    risk: float | Unknown
    interval: Interval | Unknown
    epsilon: float | Unknown
    worst_case: float | Unknown
    lower_bound: float | Unknown
    z: float | Unknown
    noise_share: float | Unknown
    control: float | Unknown = field(
        default_factory=lambda: Unknown("only a simulation has a control")
    )
    fresh: float | Unknown = field(
        default_factory=lambda: Unknown("only a simulation has a control")
    )


@dataclass(frozen=True, kw_only=True)
class DynamicResult(Result):
    """What theory or a simulation says of a design, by round."""

    verb: ClassVar[str] = "dynamic"

    action: Action
    design: str
    rounds: tuple[Round, ...]
    advice: Unknown

    def summary(self) -> str:
        """Return plain text to paste, the details at its end."""
        return "\n".join([super().summary(), *self.details()])

    def details(self) -> tuple[str, ...]:
        """Return what the table of rounds has no room for, line by line."""
        return ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per round; controls only where there are any."""
        names = [
            name
            for name in Round.__dataclass_fields__
            if name not in ("control", "fresh")
            or not all(isinstance(getattr(each, name), Unknown) for each in self.rounds)
        ]
        return [
            {_HEADS.get(name, name): getattr(each, name) for name in names} for each in self.rounds
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return majority risk by round, between its bounds."""
        known = [each for each in self.rounds if not isinstance(each.risk, Unknown)]
        shown = known or list(self.rounds)
        columns: dict[str, list[float | None]] = {
            "round": [each.round for each in shown],
            "risk": [_number(each.risk) for each in shown],
            "low": [
                each.interval.low if isinstance(each.interval, Interval) else None for each in shown
            ],
            "high": [
                each.interval.high if isinstance(each.interval, Interval) else None
                for each in shown
            ],
            "worst_case": [_number(each.worst_case) for each in shown],
            "lower_bound": [_number(each.lower_bound) for each in shown],
        }
        roles = {"x": "round", "y": "risk", "low": "low", "high": "high"}
        roles |= {"outer_high": "worst_case", "outer_low": "lower_bound"}
        return (
            Figure(
                "rounds",
                f"Majority risk by round: {self.design}",
                columns,
                roles,
                {"y": "majority risk", "outer_low": "nothing promised below, to the worst case"},
            ),
        )


@dataclass(frozen=True, kw_only=True)
class TheoryResult(DynamicResult):
    """What is proved before anything is run.

    Parameters
    ----------
    statements
        Every theorem that applies, in words, with its number.
    """

    epsilon: float
    statements: tuple[str, ...]

    def details(self) -> tuple[str, ...]:
        """Return the statements."""
        return self.statements


@dataclass(frozen=True, kw_only=True)
class Signals:
    """What an early round says about the final risk, over rollouts (Figure 5): Pearson correlations
    with intervals.
    """

    early: int
    final: int
    z_correlation: float | None
    z_interval: Interval | None
    risk_correlation: float | None
    risk_interval: Interval | None
    rollouts: int


@dataclass(frozen=True, kw_only=True)
class SimulationResult(DynamicResult):
    """What happened in many rollouts.

    Parameters
    ----------
    output_risk, output_interval
        Risk of the model that the design delivers: mean over rollouts, and where 90 % of them lie.
    price
        Rounds of model building that the design costs.
    signals
        What an early round told of the final risk, over rollouts.
    persistence
        Rank correlation of the rollouts' risk at each round with their final risk.
    """

    output_risk: float
    output_interval: Interval
    price: int
    rollouts: int
    signals: Signals | Unknown
    persistence: tuple[float | Unknown, ...]


def _number(value: float | Unknown) -> float | None:
    return None if isinstance(value, Unknown) else value


# The sentences of every answer about dynamic benchmarks: the only place where they are made.
#
# Those about attempt logs are in :mod:`tallystick.verbs.dynamic.attempt_result`.


NO_ADVICE_WITHOUT_LOG = "advice needs the log of a real campaign: tallystick dynamic analyse"

NOT_DECLARED = "the log does not say that its items were held out"

SAID_TEAMS = "you said so (--teams)"

_TIES = "the vote errs where more than half of the models do; a tie counts one half"

PANEL_ASSUMPTIONS = (
    "the forecast: new models come from the same source as those in the log, and the items are the"
    " same (only the certain bounds hold for other models)",
    "the risk on collected items is not the risk in the population: they were collected because"
    " they are hard",
    _TIES,
)

_HOLD_OUT = (
    "judge every round on one fixed random set that no round trained on or collected from, and"
    " name it: --held-out COLUMN, or --all-held-out if all items are such"
)
_PLAN = "plan the number of rounds ahead (--price): that beat reacting to single steps"

THEORY_ASSUMPTIONS = (
    "every model has risk at most epsilon above the best on its own distribution",
    "uniform mixing and voting",
)


def risk(value: float) -> str:
    """Return a risk with three significant digits: proved ones can be too small for a percentage.

    >>> risk(0.05), risk(0.00125), risk(0.123456)
    ('0.05', '0.00125', '0.123')
    """
    return number(float(f"{value:.3g}"))


# -- theory


def theory_verdict(epsilon: float, three: float, floor: float) -> str:
    """Say what three rounds guarantee, and what no number of rounds can promise."""
    return (
        f"A learner with excess risk {epsilon:g} has a majority risk of at most {risk(three)} after"
        f" three rounds; no number of rounds can promise less than {risk(floor)}."
    )


def noisy_verdict(noise: float, rounds: int, share: float) -> str:
    """Say what is left of the theory where labels are random in part."""
    return (
        f"With {percent(noise)} random labels no risk is proved; by round {rounds} at least"
        f" {percent(share)} of the data that is trained on has random labels."
    )


def theory_statements(
    bounds: dict[str, float], *, mixing: str, rounds: int, noise: float, share: float
) -> tuple[str, ...]:
    """Return one sentence per theorem, ours with the paper's number beside it.

    Parameters
    ----------
    bounds
        The bounds *three*, *longest*, *floor*, *deep*, *deep_floor* and *updates*; as the paper
        prints them, *three_printed* and *deep_printed*.
    mixing, rounds
        Of the hierarchy and of the path.
    noise, share
        Share of random labels in the population, and at least in the last round's data.
    """
    known = {name: risk(value) for name, value in bounds.items()}
    longer = (
        (
            f"a path of {rounds} rounds has a majority risk of at most {known['longest']} (ours;"
            " the paper has no such bound).",
        )
        if rounds > 3
        else ()
    )
    proved = (
        f"three rounds guarantee a majority risk of at most {known['three']} (ours; Theorem 3.4"
        f" prints {known['three_printed']}).",
        *longer,
        "no path, however long and however weighted, can promise less than"
        f" {known['floor']} (Theorem 3.5).",
        f"a {mixing} hierarchy of depth 2 and width 3 guarantees at most {known['deep']} (ours;"
        f" Theorem 4.1 prints {known['deep_printed']} for flat mixing) and cannot promise less than"
        f" {known['deep_floor']} (Theorem 4.2), for 9 rounds.",
        "updating the model by exponential loss guarantees at most"
        f" {known['updates']} after {rounds} updates (Lemma A.2), if the population can be"
        " reweighted at will.",
    )
    if not noise:
        return tuple(f"{text[0].upper()}{text[1:]}" for text in proved)
    return (
        *(f"If no label were random: {text}" for text in proved),
        f"With {percent(noise)} random labels, at least {percent(share)} of round {rounds}'s data"
        " have random labels (Theorem 3.6, sharpened).",
    )


# -- simulations


def simulation_verdict(
    design: str, output: tuple[float, Interval], *, rollouts: int, rounds: Sequence[Round]
) -> str:
    """Say what the design, its first model and the controls deliver."""
    mean, interval = output
    first, last = rounds[0].risk, rounds[-1]
    text = (
        f"The {design} delivers a risk of {risk(mean)} on average over {count(rollouts)} rollouts,"
        f" 90 % of them between {risk(interval.low)} and {risk(interval.high)}"
    )
    if not isinstance(first, Unknown):
        text += f"; its first model alone has {risk(first)}"
    if not isinstance(last.control, Unknown) and not isinstance(last.fresh, Unknown):
        text += f", as many models on the plain data {risk(last.control)}"
        if last.fresh != last.control:
            text += f", and {risk(last.fresh)} with fresh random data instead of errors"
    return f"{text}."


def simulation_assumptions(learner: str, collection: Collection) -> tuple[str, ...]:
    """Return what a simulation rests on, its annotators included."""
    found = "all errors" if collection.items is None else f"{count(collection.items)} items"
    brought = (
        f"each round brings back {found}, from {percent(collection.coverage)} of the errors, with"
        f" {percent(collection.duplicates)} copies and {percent(collection.mistakes)} mistakes"
    )
    return (f"the learner is {learner}", "a tie of votes counts one half", brought)


# -- logs


def log_verdict(result: Advice, last: PanelRound | PathRound, models: int) -> str:
    """Say whether more models, or two more rounds, help, with the range and the present risk."""
    if result.certain is None:
        return _path_verdict(result, last, models)
    new = "Two more models" if result.more == 2 else "One more model"
    now = (
        f"the vote of {models} models is wrong on {percent(last.risk)} of {round_text(last.round)}"
    )
    if result.decision == "worth it" and isinstance(result.gain.interval, Interval):
        return f"{new} like these would help the vote{_pays(result)}: {_gain(result)}; {now}."
    if result.decision == "not worth it":
        return f"{new} would not help the vote{_pays(result)}: {_gain(result)}; {now}."
    return (
        f"We cannot tell whether {new[0].lower()}{new[1:]} like these would help the"
        f" vote{_pays(result)}: {_gain(result)}; {now}."
    )


def _path_verdict(result: Advice, last: PanelRound | PathRound, rounds: int) -> str:
    now = f"the vote of {rounds} rounds is wrong on {percent_interval(last.risk, last.interval)}"
    more = "two more rounds of " + ("these teams" if result.teams else "the same learner")
    if result.decision == "go on":
        return f"Go on: {more} would lower the risk, {_gain(result)}; {now}."
    if result.decision == "stop":
        return f"Stop: {more} would not help{_pays(result)}, {_gain(result)}; {now}."
    why = f": {result.reason}" if result.reason else ""
    gain = f"; {_gain(result)}" if isinstance(result.gain.interval, Interval) else ""
    return f"We cannot tell whether two more rounds would help{_pays(result)}{why}{gain}; {now}."


def round_text(name: Any) -> str:
    """Return what a round is called in a sentence."""
    return str(name) if name == "all items" else round_name(name)


def _pays(advice: Advice) -> str:
    return f" by {points(advice.pays, sign=False)} or more" if advice.pays else ""


def _gain(advice: Advice) -> str:
    """Return the range of the gain, or only the bounds where there is no forecast."""
    interval = advice.gain.interval
    if isinstance(interval, Interval):
        return (
            f"the likely gain is between {points(interval.low)} and {points(interval.high)} (90 %"
            " range)"
        )
    low, high = advice.certain or (-1.0, 1.0)
    return f"the gain can be anything between {points(low)} and {points(high)}"


def log_needed(kind: str, advice: Advice, items: int) -> Needed | None:
    """Say what would settle an advice that cannot tell."""
    if advice.decision != "cannot tell":
        return None
    if kind == "panel":
        return Needed(None, "models of the same kind: few models leave a wide range")
    if advice.reason == NOT_DECLARED:
        return Needed(None, "evidence: " + _HOLD_OUT)
    if items < 400:
        return Needed(400 - items, "held-out items, the same in every round")
    return Needed(None, f"held-out items; or {_PLAN}")


def path_assumptions(teams: str | None, *, forecast: bool) -> tuple[str, ...]:
    """Return what the answer about a path rests on: who built its rounds, first of all."""
    if not forecast:
        return (_TIES,)
    built = (
        f"the range is that of different teams or model families, because {teams}; the next two"
        " rounds come from the same mixture"
        if teams
        else "every round, and the next two, retrain the same learner: names and error rates do not"
        " speak against it, but teams whose models are equally good look the same (--teams)"
    )
    return (built, "the held-out items are a random sample of the population", _TIES)


def log_table(result: LogResult) -> list[dict[str, Any]]:
    """Return one row per round, numbers as they are."""
    if result.kind == "path":
        names = ("round", "model", "risk", "interval", "model_risk", "change", "change_interval")
        return [{name: getattr(each, name) for name in names} for each in result.rounds]
    found = []
    for each in result.rounds:
        forecast = getattr(each, "forecast", None)
        names = ("round", "items", "risk", "interval", "model_risk", "all_wrong", "independent")
        row = {name: getattr(each, name) for name in names}
        found.append(
            {
                **row,
                "models": len(getattr(each, "models", ())),
                "gain": getattr(forecast, "gain", None),
                "gain_range": getattr(forecast, "interval", None),
            }
        )
    return found


def log_lines(result: LogResult) -> list[tuple[str, str]]:
    """Return the answer as a terminal shows it: verdict, next step, table, what it rests on."""
    lines = [(result.verdict, "bold")]
    advice, last = result.advice, result.rounds[-1]
    if advice.certain is not None:
        low, high = map(points, advice.certain)
        text = f"Certain, whatever the new models are: a gain between {low} and {high}."
        lines.append((text, ""))
    if result.needed is not None:
        lines.append((f"Next: {_next(result)}.", ""))
    if not isinstance(result.plan, Unknown):
        more = " or more" if result.plan.longest else ""
        text = f"At that price, plan {result.plan.rounds}{more} rounds in all, and do not react to"
        lines.append((f"{text} single steps (a guide: the best length was known afterwards).", ""))

    lines += [("", ""), *((text, "") for text in aligned(_shown(result)))]
    lines += [(text, "") for text in _together(last)]
    if not isinstance(result.last_step, Unknown):
        step = result.last_step
        said = "proved lower" if step.proved == "lower" else "proved higher"
        text = "The last two rounds: the risk is " + (said if step.proved else "not proved changed")
        lines.append((f"{text} ({step.repaired} items repaired, {step.broken} broken).", ""))
    lines.append(("", ""))
    lines += [(result.rests_on(), "dim")] if result.assumptions else []
    lines += [(f"! {text}", "yellow") for text in result.warnings]
    return lines


def _next(result: LogResult) -> str:
    if result.kind == "panel":
        return "try more models of the same kind on these items: few models leave a wide range"
    if result.advice.reason == NOT_DECLARED:
        return _HOLD_OUT
    if result.n_items < 400:
        return f"judge every round on at least 400 held-out items, or {_PLAN}"
    return _PLAN


def _shown(result: LogResult) -> list[list[str]]:
    """Return the table of a log as text, in percent."""
    if result.kind == "path":
        rows = [["round", "vote wrong", "its model wrong", "vote against two rounds before"]]
        for each in result.rounds:
            change, interval = getattr(each, "change", None), getattr(each, "change_interval", None)
            paired = "–"
            if isinstance(change, float) and isinstance(interval, Interval):
                paired = points_interval(change, interval)
            vote = percent_interval(each.risk, each.interval)
            rows.append([str(each.round), vote, percent(each.model_risk), paired])
        return rows
    head = ["round", "items", "models", "vote wrong", "a model wrong", "all wrong"]
    rows = [[*head, "if independent", "likely gain of more models"]]
    for row in log_table(result):
        gain, interval = row["gain"], row["gain_range"]
        known = isinstance(gain, float) and isinstance(interval, Interval)
        rows.append(
            [
                str(row["round"]),
                count(row["items"]),
                str(row["models"]),
                percent_interval(row["risk"], row["interval"]),
                percent(row["model_risk"]),
                percent(row["all_wrong"]),
                percent(row["independent"]),
                points_interval(gain, interval) if known else "–",
            ]
        )
    return rows


def _together(last: PanelRound | PathRound) -> list[str]:
    """Say which models are wrong together in the last round, and which items the vote hangs on."""
    pairs = getattr(last, "pairs", ())
    if not pairs:
        return []
    lines = ["", f"Wrong together most often ({round_text(last.round)}):"]
    for pair in pairs[:3]:
        lines.append(
            f"  {pair.first} and {pair.second}: both on"
            f" {percent_interval(pair.both, pair.interval)}; independent errors would give"
            f" {percent(pair.independent)}"
        )
    hopeless = round(getattr(last, "all_wrong", 0.0) * last.items)
    lines.append(
        f"Items: {count(hopeless)} that every model gets wrong (hard, or mislabelled),"
        f" {count(getattr(last, 'repairable', 0))} that the next models could repair,"
        f" {count(getattr(last, 'fragile', 0))} that they could break. --items-out FILE lists them."
    )
    noise = getattr(last, "noise_range", None)
    if isinstance(noise, Interval):
        text = f"{percent(noise.low)} to {percent(noise.high)}, judged by the validators."
        lines.append(f"Random labels ({round_text(last.round)}): {text}")
    return lines
