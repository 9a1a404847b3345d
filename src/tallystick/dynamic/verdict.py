"""The sentences of every answer about dynamic benchmarks: the only place where they are made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tallystick.results import Interval, Needed, Unknown
from tallystick.results.numbers import (
    count,
    number,
    p_value,
    percent,
    percent_interval,
    points_interval,
)

if TYPE_CHECKING:
    from tallystick.dynamic.advice import Advice, CourseOption
    from tallystick.dynamic.log import RoundLog
    from tallystick.dynamic.probit import ProbitFit
    from tallystick.dynamic.result import Forgetting, Overlap, Round
    from tallystick.dynamic.validators import NoiseShare

__all__ = [
    "LEARNER_ROLLOUTS",
    "ROWS_COUNT",
    "THEORY_ASSUMPTIONS",
    "advice_text",
    "forgetting_line",
    "go_on_reason",
    "log_assumptions",
    "log_verdict",
    "log_warnings",
    "noise_line",
    "noisy_verdict",
    "overlap_line",
    "risk",
    "simulation_verdict",
    "stop_reason",
    "theory_statements",
    "theory_verdict",
]

ROWS_COUNT = (
    "a row of weight w stands for w items that were seen alike: these are not sampling weights"
)

LEARNER_ROLLOUTS = Needed(None, "rollouts of the learner itself (run_experiment)")
"""What would settle a log that the simulator does not describe."""

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
    """Return one sentence per theorem.

    Parameters
    ----------
    bounds
        The bounds *three*, *floor*, *deep*, *deep_floor* and *updates*.
    mixing, rounds
        Of the hierarchy and of the path.
    noise, share
        Share of random labels in the population, and at least in the last round's data.
    """
    known = {name: risk(value) for name, value in bounds.items()}
    proved = (
        f"three rounds guarantee a majority risk of at most {known['three']} (Theorem 3.4,"
        " sharpened).",
        "no path, however long and however weighted, can promise less than"
        f" {known['floor']} (Theorem 3.5).",
        f"a {mixing} hierarchy of depth 2 and width 3 guarantees at most {known['deep']} (Theorem"
        f" 4.1, sharpened) and cannot promise less than {known['deep_floor']} (Theorem 4.2), for 9"
        " rounds.",
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
    design: str,
    output: tuple[float, Interval],
    *,
    rollouts: int,
    rounds: Sequence[Round],
    advice: Advice | Unknown,
) -> str:
    """Say what the design, its first model and the controls deliver, then the advice."""
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
    return f"{text}.{_then(advice)}"


# -- advice


def advice_text(advice: Advice) -> str:
    """Return an advice in one clause, with its gain."""
    if advice.interval is None:
        return advice.course
    return (
        f"{advice.course} (expected gain {points_interval(advice.gain, advice.interval)}, 90 % of"
        f" simulated futures, price {number(advice.price)})"
    )


def stop_reason(best: CourseOption, present: float, value: float, doubt: str | None) -> str:
    """Say why nothing is worth its price."""
    return (
        f"the best option, {best.course}, would lower the majority risk of {risk(present)} by"
        f" {risk(max(best.gain, 0))}, worth {risk(max(value * best.gain, 0))} for a price of"
        f" {risk(best.price)}.{_beware(doubt)}"
    )


def go_on_reason(
    best: CourseOption, present: float, value: float, *, rounds: int, doubt: str | None
) -> str:
    """Say why an option is worth its price."""
    return (
        f"it is expected to lower the majority risk from {risk(present)} by {risk(best.gain)}"
        f" ({100 * (1 - best.no_gain):.0f} % of simulated futures gain), worth"
        f" {risk(value * best.gain)} for a price of {risk(best.price)}"
        f" ({_rounds(best.rounds, rounds)}).{_beware(doubt)}"
    )


def _rounds(ahead: int, so_far: int) -> str:
    """Name the number of rounds, and why it is two where one was named."""
    if ahead == 2:
        return f"2 rounds, since after an even number, {so_far + 1}, ties would eat the gain"
    return "1 round" if ahead == 1 else f"{ahead} rounds"


def _beware(doubt: str | None) -> str:
    return f" Beware: {doubt}." if doubt else ""


def _then(advice: Advice | Unknown) -> str:
    return "" if isinstance(advice, Unknown) else f" Advice: {advice_text(advice)}."


# -- logs


def log_verdict(models: int, overlap: Sequence[Overlap], advice: Advice | Unknown) -> str:
    """Say how often all models are wrong together in the last round, and the advice."""
    first, last = overlap[0], overlap[-1]
    before = f" (round {first.round}: {percent(first.all_wrong)})" if len(overlap) > 1 else ""
    return (
        f"All {models} models are wrong together on"
        f" {percent_interval(last.all_wrong, last.interval)} of the items of round {last.round},"
        f" against {percent(last.independent)} if their errors were independent{before}."
        f"{_then(advice)}"
    )


def log_assumptions(log: RoundLog) -> tuple[str, ...]:
    """Return what the answer about a log rests on."""
    binary = "majority is binary: at least half of the models wrong, a tie counting one half"
    plural = (
        "risk by round is that of the plurality of the models' answers, ties split; the advice"
        " knows only right from wrong, so its majority errs where at least half of the models do"
    )
    return (
        "items of a round are a random sample of what it could have collected",
        "the advice simulates further models, trained on the last round's items with the errors"
        " weighed up, that err as often and as jointly as the models there are",
        binary if log.predictions is None or log.labels is None else plural,
    )


def log_warnings(
    log: RoundLog, fit: ProbitFit | Unknown, noise: Sequence[NoiseShare]
) -> tuple[str, ...]:
    """Return what a reader of a log has to know before relying on the answer."""
    out = []
    if not isinstance(fit, Unknown) and not fit.fits:
        out.append(
            f"The fitted correlation is refuted by the log ({p_value(fit.fit_p)}): do not rely on"
            " the envelopes."
        )
    if log.kind == "panel":
        out.append(
            "A panel does not show what its models were trained on, so the advice assumes that"
            " up-weighting protects no item (gamma = 0)."
        )
        if log.round_numbers[0] != 0:
            out.append(
                f"The log has no round 0 (D_0): round {log.round_numbers[0]} stands in for it."
            )
    if any(
        isinstance(each.share, Unknown) and isinstance(each.interval, Interval) for each in noise
    ):
        out.append(
            "The share of random labels is known only as a set: validators' disagreements were"
            " filtered."
        )
    return tuple(out)


def overlap_line(joint: Overlap) -> str:
    """Say how the models fail together on the items of one round."""
    text = (
        f"Wrong together, round {joint.round}: {percent_interval(joint.all_wrong, joint.interval)}"
        f" of {count(joint.n_items)} items; independent errors would give"
        f" {percent(joint.independent)}"
    )
    if (
        isinstance(joint.rho_interval, Interval)
        and not isinstance(joint.predicted, Unknown)
        and not isinstance(joint.fit_p, Unknown)
    ):
        low, high = joint.rho_interval
        text += (
            f", the fit {percent(joint.predicted)} (rho {joint.rho:.2f} [{low:.2f}, {high:.2f}],"
            f" fit {p_value(joint.fit_p)})"
        )
    if joint.test.z is not None and joint.test.z_null is not None:
        low, high = joint.test.z_null
        text += (
            f"; z {joint.test.z:.2f}, by chance {low:.2f} to {high:.2f}"
            f" ({p_value(joint.test.p_value)})"
        )
    return text + "."


def noise_line(round_: int, noise: Interval) -> str:
    """Say between what the share of random labels lies in one round."""
    return (
        f"Random labels among the items of round {round_}: {percent(noise.low)} to"
        f" {percent(noise.high)}."
    )


def forgetting_line(step: Forgetting) -> str:
    """Say what a later model in the loop lost of what an earlier one knew."""
    return (
        f"From {step.before} to {step.model}, on the first items: risk"
        f" {points_interval(step.change, step.interval)}; {percent(step.forgotten)} forgotten,"
        f" {percent(step.learnt)} learnt."
    )
