"""Who is best, who is better, and who may be: claimed here alone, and only where it is settled.

A claim is given the competitors as they were observed and the pairs that are settled, and nothing
else: what is not settled cannot be said, whatever the estimates look like. "The best" needs every
rival to be beaten, those of which nothing is known included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tallystick.results.interval import Interval
from tallystick.results.numbers import names_of, number_word


@dataclass(frozen=True)
class Claims:
    """What is settled about the order of some competitors.

    Parameters
    ----------
    names
        Competitors that were measured, the best first as observed.
    better
        The pairs that are settled, the better one first.
    unknown
        Competitors of which nothing is known: each may be the best.
    what
        What one competitor is called: system, model, judge, classifier.

    Examples
    --------
    >>> claims = Claims(("new", "old", "tiny"), {("new", "tiny"), ("old", "tiny")})
    >>> claims.best, claims.contenders, claims.beaten
    (None, ('new', 'old'), ('tiny',))
    >>> claims.answer({"new": "86.0%", "old": "84.5%", "tiny": "61.0%"}.__getitem__)
    'new is better than tiny: 86.0% against 61.0%.'
    >>> claims.left()
    'Not settled: whether new is also better than old.'
    """

    names: tuple[str, ...]
    better: Iterable[tuple[str, str]] = frozenset()
    unknown: tuple[str, ...] = ()
    what: str = "system"

    def __post_init__(self) -> None:
        object.__setattr__(self, "better", frozenset(self.better))

    @classmethod
    def from_intervals(
        cls,
        intervals: Mapping[str, Interval],
        *,
        unknown: Sequence[str] = (),
        what: str = "system",
    ) -> Claims:
        """Claim from intervals that hold together: whoever lies above another is better.

        Nothing else is used, so it does not matter how the estimates depend on each other: a wrong
        claim needs an interval that misses. Intervals of k competitors at 1 - α/k each miss
        together with probability at most α.

        >>> held = {"old": Interval(0.5, 0.6), "new": Interval(0.7, 0.8)}
        >>> Claims.from_intervals(held).best
        'new'
        """
        order = sorted(intervals, key=lambda name: -(intervals[name].low + intervals[name].high))
        better = {(a, b) for a in order for b in order if intervals[a].low > intervals[b].high}
        return cls(tuple(order), better, tuple(unknown), what)

    @cached_property
    def contenders(self) -> tuple[str, ...]:
        """Whom nobody beats: each may be the best; those of which nothing is known come last."""
        worse = {loser for _, loser in self.better}
        return (*(name for name in self.names if name not in worse), *self.unknown)

    @property
    def best(self) -> str | None:
        """The best of several, None unless every rival is beaten."""
        first = self.contenders[:1]
        sure = len(self.contenders) == 1 and len(self.beaten) == len(self.names) - 1
        return first[0] if sure and len(self.names) > 1 else None

    @property
    def leader(self) -> str:
        """The first of those that may be the best."""
        return self.contenders[0]

    @property
    def beaten(self) -> tuple[str, ...]:
        """Whom the leader beats, the best of them first."""
        return tuple(name for name in self.names if (self.leader, name) in self.better)

    @property
    def rivals(self) -> tuple[str, ...]:
        """Who may be as good as the leader: whom it does not beat, of whom something is known."""
        known = (name for name in self.names if name != self.leader)
        return tuple(name for name in known if name not in self.beaten)

    def answer(self, text: Callable[[str], str], *, verb: str = "scores") -> str:
        """Say who is best, or better than whom, or that we cannot tell.

        Parameters
        ----------
        text
            The score of a competitor with its doubt.
        verb
            What comes before the score of the next best.
        """
        leader, beaten = self.leader, self.beaten
        score = text(leader)
        if self.best is not None and len(self.names) == 2:
            return f"{leader} is better than {beaten[0]}: {score} against {text(beaten[0])}."
        if self.best is not None:
            return (
                f"{leader} is the best of {number_word(len(self.names))} {self.what}s: {score}. The"
                f" next best, {beaten[0]}, {verb} {text(beaten[0])}."
            )
        if beaten:
            whose = f" for {beaten[0]}" if len(beaten) > 1 else ""
            return (
                f"{leader} is better than {names_of(beaten)}: {score} against"
                f" {text(beaten[0])}{whose}."
            )
        shown = ", ".join(f"{name} {text(name)}" for name in (leader, *self.rivals)[:2])
        return f"We cannot tell which {self.what} is best: {shown}."

    def left(self) -> str:
        """Say which rivals are not settled; empty if none is, or if `answer` has named them all."""
        rivals = self.rivals
        if not rivals or (not self.beaten and len(rivals) == 1):
            return ""
        also = "also " if self.beaten else ""
        return f"Not settled: whether {self.leader} is {also}better than {names_of(rivals)}."
