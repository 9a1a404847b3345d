"""The verdicts of `judge`, sentence by sentence.

What an answer rests on is in `verdict_grounds`, alarms and warnings in `verdict_warnings`.

The order is that of every answer: the answer with its number, what is not settled, what would
settle it. Numbers are written by `tallystick.results`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tallystick.judge.parts import (
    JudgeScore,
    LabelsNeeded,
    Number,
    Range,
)
from tallystick.results import (
    Interval,
    Needed,
    Sentences,
    Unknown,
    count,
    percent,
    percent_interval,
)

if TYPE_CHECKING:
    from tallystick.judge.leader import Leader

__all__ = [
    "WITHOUT_LABELS",
    "answers_with_labels",
    "answers_without_labels",
    "basis_of",
    "first_sentence",
    "in_words",
    "listed",
    "needed_first_labels",
    "needed_labels",
    "on_labelled_items",
    "only_logic",
    "opening_with_labels",
    "opening_without_labels",
    "rate_of",
]


_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_NAMED = 2


# -- words and numbers


def in_words(n: int) -> str:
    """Return a small number as a word.

    >>> in_words(3), in_words(24)
    ('three', '24')
    """
    return _NUMBERS[n] if n < len(_NUMBERS) else count(n)


def rate_of(value: Number, interval: Range) -> str:
    """Return a rate with its interval, or alone where it has none."""
    estimate = value if isinstance(value, float) else None
    return (
        percent_interval(estimate, interval)
        if isinstance(interval, Interval)
        else percent(estimate)
    )


def listed(names: Sequence[str]) -> str:
    """Return names in words: at most two by name.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d"])
    ('a', 'a and b', 'a, b and 2 others')
    """
    rest = len(names) - _NAMED
    if rest > 0:
        return f"{', '.join(names[:_NAMED])} and {rest:,} other{'s' if rest > 1 else ''}"
    return " and ".join(names)


def first_sentence(best: Leader, rate: str, verb: str = "is", *, ahead: bool = True) -> str:
    """Return the first sentence; a single judge is not the best of anything.

    The leader is the judge that is surest to be good, so a rival with few votes may have a higher
    estimate: then it is not *ahead*.
    """
    if best.judges == 1:
        return f"{best.name} {verb} right on {rate}."
    place = "the most accurate" if ahead else "among the most accurate"
    return f"{best.name} {verb} {place} of your {in_words(best.judges)} judges: {rate}."


def _is_ahead(best: Leader, scores: Mapping[str, JudgeScore]) -> bool:
    """Say whether every rival has a lower estimate than the leader."""
    return _best_rival(best, scores) < _known(scores[best.name].accuracy)


def _best_rival(best: Leader, scores: Mapping[str, JudgeScore]) -> float:
    return max((_known(scores[name].accuracy) for name in best.rivals), default=-1.0)


def _known(value: Number) -> float:
    return value if isinstance(value, float) else -1.0


def _not_settled(best: Leader, scores: Mapping[str, JudgeScore], *, new: bool = False) -> str:
    """Name who may be as good, with a number where one judge is named alone."""
    if not best.rivals:
        return ""
    higher = _best_rival(best, scores) > _known(scores[best.name].accuracy)
    good = "as good or better" if higher else "as good"
    if len(best.rivals) == 1:
        rival = scores[best.rivals[0]]
        rate = rate_of(rival.accuracy, rival.new_items if new else rival.interval)
        why = _still_open(best, scores[best.name], rival, new=new)
        return f" Not settled: {rival.name} may be {good}, {rate}.{why}"
    return f" Not settled: {listed(best.rivals)} may be {good}."


def _still_open(best: Leader, first: JudgeScore, rival: JudgeScore, *, new: bool) -> str:
    """Say why nothing is settled between two judges whose intervals do not touch.

    Each interval is for one judge, and uses all votes. Who is better is tested on the labels alone,
    for all judges at once.
    """
    mine = first.new_items if new else first.interval
    other = rival.new_items if new else rival.interval
    if not isinstance(mine, Interval) or not isinstance(other, Interval):
        return ""
    if mine.low <= other.high or rival.name not in best.duels:
        return ""
    wins, losses = best.duels[rival.name]
    return (
        f" On {count(wins + losses)} labelled items exactly one of them is right: {best.name} on"
        f" {count(wins)}, {rival.name} on {count(losses)}. Chance can do that where"
        f" {in_words(best.judges)} judges are compared."
    )


# -- with labels


NOT_DRAWN = (
    "These labels cannot say how good the judges are, because they were not drawn at random."
)


def answers_with_labels(
    best: Leader | None,
    scores: Sequence[JudgeScore],
    *,
    n_labels: int,
    every: bool,
    drawn: bool,
) -> str:
    """Return the verdict from labels.

    Parameters
    ----------
    best
        Who leads; None if no labelled item has a vote.
    scores
        All judges.
    n_labels
        Labelled items.
    every
        Whether every vote is labelled: then only new items leave a doubt.
    drawn
        Whether the labels look like a random draw.
    """
    if best is None:
        return (
            f"{count(n_labels)} labels fell on items without votes and say nothing of the judges."
        )
    return opening_with_labels(best, scores, n_labels=n_labels, every=every, drawn=drawn).verdict


def opening_with_labels(
    best: Leader | None,
    scores: Sequence[JudgeScore],
    *,
    n_labels: int,
    every: bool,
    drawn: bool,
) -> Sentences:
    """Return what `answers_with_labels` says, line by line."""
    if best is None:
        whole = answers_with_labels(best, scores, n_labels=n_labels, every=every, drawn=drawn)
        return Sentences(answer=whole)
    score = scores[best.place]
    by_name = {one.name: one for one in scores}
    rate = rate_of(score.accuracy, score.new_items if every else score.interval)
    leads = first_sentence(best, rate, ahead=_is_ahead(best, by_name))
    rivals = _not_settled(best, by_name, new=every).strip()
    if not drawn:
        return Sentences(answer=NOT_DRAWN, contrast=f"If they had been: {leads}", open=rivals)
    whole = f"All votes are labelled ({count(n_labels)} items): the doubt is about new items."
    return Sentences(answer=leads, contrast=whole if every else "", open=rivals)


def opening_without_labels(
    best: Leader | None, scores: Sequence[JudgeScore], *, refuted: bool
) -> Sentences:
    """Return what `answers_without_labels` says, line by line."""
    if best is None:
        return Sentences(answer=answers_without_labels(best, scores, refuted=refuted))
    return Sentences(
        answer=_by_votes_alone(best, scores), open=f"Not settled: {_why_open(refuted=refuted)}."
    )


def basis_of(n_labels: int, alpha: float) -> str:
    """Say in one line what intervals from labels rest on."""
    return (
        f"{100 * (1 - alpha):g} % intervals from {count(n_labels)} random labels, valid whatever"
        " errors the judges have in common."
    )


WITHOUT_LABELS = (
    "Rests on the votes alone. The error rate is estimated in several ways, and the likely range"
    " runs from twice the largest to half of the smallest. In simulations it held for 99 % of the"
    " judges, 68 % in the worst case."
)
"""One line on what a panel without labels rests on."""


def on_labelled_items(best: Leader | None, scores: Sequence[JudgeScore], n_labels: int) -> str:
    """Return the verdict of `supervised`."""
    if best is None:
        return f"No judge votes on the {count(n_labels)} labelled items."
    score = scores[best.place]
    by_name = {one.name: one for one in scores}
    rate = rate_of(score.accuracy, score.interval)
    return (
        f"{first_sentence(best, rate, ahead=_is_ahead(best, by_name))}"
        f"{_not_settled(best, by_name)} This rests on {count(n_labels)} labelled items alone."
    )


def needed_labels(best: Leader | None, forecast: LabelsNeeded) -> Needed | None:
    """Return what would tell the leader from its rivals; None if nothing is needed."""
    if best is None:
        return Needed(None, "labels on items that have votes")
    if not best.rivals:
        return None
    whom = f"to tell {best.name} from {listed(best.rivals)}"
    if not forecast.left:
        return Needed(None, f"items like these: all of them are labelled, too few {whom}")
    if forecast.leader is None:
        return Needed(None, f"labels on items drawn at random, {whom}")
    if not forecast.enough:
        return Needed(
            forecast.left, f"labels, all that this table has left; even they may be too few {whom}"
        )
    return Needed(forecast.leader, f"labels on items drawn at random, {whom}")


def needed_first_labels(forecast: LabelsNeeded) -> Needed:
    """Return how many random labels give every judge ± 5 points, where there are none yet."""
    return Needed(
        max(1, forecast.precision),
        "labels on items drawn at random, for ± 5 points for each judge",
    )


# -- without labels


def answers_without_labels(
    best: Leader | None, scores: Sequence[JudgeScore], *, refuted: bool
) -> str:
    """Return the verdict from votes alone: a number, its range, and that it is not settled."""
    if best is None:
        return "Nobody could be graded from votes alone."
    return f"{_by_votes_alone(best, scores)} Not settled: {_why_open(refuted=refuted)}."


def _by_votes_alone(best: Leader, scores: Sequence[JudgeScore]) -> str:
    score = scores[best.place]
    rate = f"about {percent(score.accuracy if isinstance(score.accuracy, float) else None)}"
    if not isinstance(score.range, Unknown):
        low, high = score.range
        rate += f", likely between {percent(low)} and {percent(high)}"
    return f"By their votes alone, {first_sentence(best, rate, 'looks')}"


def _why_open(*, refuted: bool) -> str:
    if refuted:
        return "these judges do not err independently, so no label-free number can be relied on"
    return (
        "no interval is possible without labels, and an error that all judges share does not show"
    )


def only_logic(names: Sequence[str], certain: str) -> str:
    """Return the verdict where nothing but logic is left."""
    who = f"{names[0]} cannot" if len(names) == 1 else f"These {in_words(len(names))} judges cannot"
    return f"{who} be graded without labels. {certain}"
