"""Votes as arrays: what every method of judge works from, with the truth apart from the judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, NotIdentifiable
from tallystick.tally import Tally
from tallystick.tally.store import pack
from tallystick.values.label import Label, identity, in_order

__all__ = ["Ballots", "Floats", "Ints", "Ranges", "check_ranges"]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Ranges: TypeAlias = Mapping[Label, tuple[float, float]]
"""Known ranges of prevalence, label to (low, high)."""

_MANY_LABELS = 20


@dataclass(frozen=True, eq=False)
class Ballots:
    """Votes as weighted patterns: ``codes[i, j]`` is the label that judge j gave in pattern i, -1
    for none.

    Parameters
    ----------
    names
        The judges.
    classes
        Every label that was voted, found true or named, in canonical order.
    codes, counts, truth
        Patterns x judges; items per pattern; the true label where it is known, -1 elsewhere.
    votes
        The tally of the judges alone; ``place[i]`` is the row of it that pattern i shows.
    place
        See *votes*.
    extras
        Votes that can never be true (tie, error, refusal). Their codes follow those of *classes*.
    """

    names: tuple[str, ...]
    classes: tuple[Label, ...]
    codes: Ints
    counts: Floats
    truth: Ints
    votes: Tally
    place: Ints
    extras: tuple[Label, ...] = ()

    @classmethod
    def of(
        cls,
        votes: Tally | Ballots,
        *,
        judges: Sequence[str] | None = None,
        truth: str | None = None,
        labels: Sequence[Label] = (),
        never_true: Sequence[Label] = (),
    ) -> Ballots:
        """Read a tally; ballots are returned as they are.

        Parameters
        ----------
        votes
            The tally, or ballots that were read before: then nothing else may be given.
        judges, truth
            Which columns vote; which one holds true labels, if any.
        labels
            Labels that are possible although nobody voted for them.
        never_true
            Votes that can never be the truth.

        Examples
        --------
        >>> ballots = Ballots.of(Tally.of({"a": [0, 1, 1], "b": [0, 1, None], "gold": [0, None, 1]}), truth="gold")
        >>> ballots.names, ballots.classes, ballots.truth.tolist()
        (('a', 'b'), (0, 1), [0, -1, 1])
        """
        if isinstance(votes, Ballots):
            return votes
        if not votes.n:
            raise InputError("votes: there are no items; count at least one")
        names = (
            tuple(name for name in votes.names if name != truth)
            if judges is None
            else tuple(judges)
        )
        if not names:
            raise InputError(
                f"judges: no column is left besides the truth {truth!r}; name at least one judge"
            )
        if truth is not None and truth in names:
            raise InputError(f"truth names {truth!r}, which is also a judge: choose one")
        asked = votes.marginal((*names, *([truth] if truth is not None else [])))
        kept = asked.counts > 0
        silent = [name for name in names if _silent(asked, name, kept)]
        if len(silent) == len(names):
            raise InputError(
                f"no judge has a vote: every cell of {', '.join(map(repr, names[:6]))} is blank or"
                " says no answer; name other columns (judges=, --judges)"
            )
        if silent:
            few = "judge" if len(silent) == 1 else "judges"
            left = ",".join(name for name in names if name not in silent)
            raise InputError(
                f"{few} {', '.join(map(repr, silent))} {'has' if few == 'judge' else 'have'} no vote"
                f" at all: drop the column, or name the others (--judges {left})"
            )
        never = {identity(label) for label in never_true}
        every = in_order(
            label
            for column in (*asked.labels.values(), tuple(labels))
            for label in column
            if label is not None
        )
        classes = tuple(label for label in every if identity(label) not in never)
        extras = tuple(label for label in every if identity(label) in never)
        if len(classes) < 2:
            if extras:
                raise InputError(
                    f"labels: of {', '.join(map(repr, every[:8]))} only"
                    f" {', '.join(map(repr, classes)) or 'none'} can be true: name every label that"
                    " can be (labels=, --labels)"
                )
            raise NotIdentifiable(
                f"every vote is {classes[0]!r}, so all that can be said is that the judges never"
                " disagree: name the other labels (labels=, --labels), or give some truth"
            )
        _refuse_scores(classes, int(asked.n))
        words = (*classes, *extras)
        code = {identity(label): i for i, label in enumerate(words)}
        table = np.column_stack(
            [
                np.array(
                    [-1 if label is None else code[identity(label)] for label in asked.labels[name]]
                )[asked.codes[:, j]]
                for j, name in enumerate(asked.names)
            ]
        )[kept]
        if truth is not None:
            _refuse_strangers(truth, classes, table[:, -1], table[:, :-1])
        alone = asked.marginal(names) if truth is not None else asked
        known = table[:, -1] if truth is not None else np.full(len(table), -1)
        place = (
            np.flatnonzero(kept) if truth is None else _places(table[:, : len(names)], alone, words)
        )
        return cls(
            names,
            classes,
            table[:, : len(names)],
            asked.counts[kept].astype(np.float64),
            known,
            alone,
            place,
            extras,
        )

    @property
    def n(self) -> float:
        """Number (or weight) of items."""
        return float(self.counts.sum())

    @property
    def keys(self) -> tuple[str, ...]:
        """The labels as JSON keys."""
        return tuple(str(label) for label in self.classes)

    @property
    def complete(self) -> bool:
        """Whether every judge votes on every item."""
        return bool((self.codes >= 0).all())

    @cached_property
    def blind(self) -> Ballots:
        """The same votes without any truth, equal patterns merged."""
        if (self.truth < 0).all():
            return self
        counts = np.zeros(self.votes.patterns)
        np.add.at(counts, self.place, self.counts)
        first = np.full(self.votes.patterns, -1)
        first[self.place[::-1]] = np.arange(len(self.place))[::-1]
        seen = first >= 0
        return Ballots(
            self.names,
            self.classes,
            self.codes[first[seen]],
            counts[seen],
            np.full(int(seen.sum()), -1),
            self.votes,
            np.flatnonzero(seen),
            self.extras,
        )

    @cached_property
    def answered(self) -> Ballots:
        """The same votes with those that are never true left out, for methods without a place for
        them.
        """
        if not self.extras:
            return self
        codes = np.where(self.codes < len(self.classes), self.codes, -1)
        return replace(self, codes=codes, extras=())

    @cached_property
    def answered_share(self) -> Floats:
        """Share of each judge's votes that are possible labels; 1 for all where every vote is."""
        return np.asarray(self.answered.voted / np.maximum(self.voted, 1e-300), dtype=np.float64)

    @cached_property
    def voted(self) -> Floats:
        """How many items each judge voted on."""
        return np.asarray(self.counts @ (self.codes >= 0), dtype=np.float64)

    @cached_property
    def vote_counts(self) -> Floats:
        """Judges x possible labels: how often each judge gave each label."""
        return np.stack([self.counts @ (self.codes == c) for c in range(len(self.classes))], axis=1)

    def require_binary(self, method: str) -> None:
        """Refuse more than two labels by name."""
        if len(self.classes) > 2:
            raise InputError(
                f"{method} is for two labels, got {list(self.classes)}: use dawid_skene, majority"
                " or logical, or merge labels"
            )

    def require_items(self, method: str) -> None:
        """Refuse weights where items are counted."""
        if (self.counts != np.floor(self.counts)).any():
            raise InputError(
                f"{method} counts items, and these votes are weighted: count them without weights"
            )


def _silent(asked: Tally, name: str, kept: NDArray[np.bool_]) -> bool:
    """Say whether a judge casts no vote on any item."""
    column = asked.codes[kept, asked.names.index(name)]
    return all(asked.labels[name][code] is None for code in np.unique(column).tolist())


def _refuse_scores(classes: tuple[Label, ...], items: int) -> None:
    """Refuse what looks like scores or free text: more labels than judges could agree on."""
    if len(classes) <= _MANY_LABELS:
        return
    if any(_fraction(label) for label in classes) or len(classes) > items / 2:
        raise InputError(
            f"votes: {len(classes):,} different labels on {items:,} items, such as {classes[0]!r}"
            f" and {classes[1]!r}, look like scores or free text, not labels: cut them into classes"
            " first, or compare scores (compare)"
        )


def _refuse_strangers(truth: str, classes: tuple[Label, ...], known: Ints, codes: Ints) -> None:
    """Refuse true labels that no judge ever gives, where there are several of both: they are
    written differently.
    """
    true, given = (np.unique(column[column >= 0]).tolist() for column in (known, codes))
    if len(true) > 1 and len(given) > 1 and not set(true) & set(given):
        here, there = (", ".join(repr(classes[c]) for c in found[:4]) for found in (true, given))
        raise InputError(
            f"truth {truth!r} says {here}, and the judges only ever say {there}: no label is"
            " shared, so nobody could be right; write both alike"
        )


def _fraction(label: Label) -> bool:
    try:
        return not float(str(label)).is_integer()
    except ValueError:
        return False


def check_ranges(prevalence: Ranges | None, ballots: Ballots) -> dict[int, tuple[float, float]]:
    """Return prevalence ranges by label code; refuse what is no range, no label, or impossible
    together.
    """
    code = {identity(label): i for i, label in enumerate(ballots.classes)}
    found: dict[int, tuple[float, float]] = {}
    for label, (low, high) in (prevalence or {}).items():
        if identity(label) not in code:
            raise InputError(
                f"prevalence names label {label!r}, which is not one of {list(ballots.classes)}"
            )
        if not 0 <= low <= high <= 1 or high == 0 or low == 1:
            raise InputError(
                f"prevalence of {label!r} must be a range within (0, 1), got {low!r},{high!r}"
            )
        found[code[identity(label)]] = (float(low), float(high))
    every = [found.get(c, (0.0, 1.0)) for c in range(len(ballots.classes))]
    if sum(low for low, _ in every) > 1 + 1e-12 or sum(high for _, high in every) < 1 - 1e-12:
        raise InputError(f"prevalence ranges {dict(prevalence or {})!r} cannot add up to 1")
    return found


def _places(codes: Ints, alone: Tally, words: tuple[Label, ...]) -> Ints:
    """Return the row of the tally of judges that shows each pattern."""
    code = {identity(label): i for i, label in enumerate(words)}
    own = np.column_stack(
        [
            np.array(
                [-1 if label is None else code[identity(label)] for label in alone.labels[name]]
            )[alone.codes[:, j]]
            for j, name in enumerate(alone.names)
        ]
    )
    # One sortable key per pattern: looking labels up one by one takes a second per million votes.
    sizes = [len(words) + 1] * len(alone.names)
    keys, wanted = (pack((part + 1).astype(np.int32), sizes) for part in (own, codes))
    order = np.argsort(keys)
    return np.asarray(order[np.searchsorted(keys[order], wanted)], dtype=np.int64)
