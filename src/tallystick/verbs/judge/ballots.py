"""Votes as arrays: what every method of judge works from, with the truth apart from the judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Interval, Unknown
from tallystick.table import Tally
from tallystick.table.cells import Label, identity, in_order
from tallystick.table.patterns import pack

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


# The parts of a result of judge: scores, shares, estimates, alarms, agreement, forecasts.


Number: TypeAlias = float | Unknown
Range: TypeAlias = Interval | Unknown

_ONLY_LABELS = Unknown("worked out from labels only, by evaluate and few_labels")
_HAS_INTERVAL = Unknown("the interval says how sure the number is")


@dataclass(frozen=True, kw_only=True)
class LabelScore:
    """How often a judge is right on items of one label, and what logic alone allows."""

    estimate: Number
    interval: Range
    logical: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class JudgeScore:
    """One judge: the share of its votes that are right, overall and by true label.

    Parameters
    ----------
    name
        The judge.
    accuracy, interval
        For these items. Without labels there is no interval, and the reason stands in its place.
    per_label
        The same on items of each label.
    votes
        How many votes it cast.
    logical
        What logic alone allows, whatever the truth is.
    new_items
        Where labels allow one, an interval for new items like the labelled ones.
    range
        Without labels: from twice the largest to half of the smallest estimate of the error rate
        (U6), (low, high). It held for most judges of comparable panels and is not an interval.
    answered, when_answered
        Where some votes can never be true (tie, refusal): the share of its votes that are possible
        labels, and the share of these that are right. None where every vote is a possible label.
    tpr, tnr
        With two labels: the true positive rate (on items of the positive label) and the true
        negative rate. None otherwise.
    """

    name: str
    accuracy: Number
    interval: Range
    per_label: Mapping[str, LabelScore] = field(default_factory=dict)
    votes: float = 0.0
    logical: Interval | None = None
    new_items: Range = _ONLY_LABELS
    range: tuple[float, float] | Unknown = _HAS_INTERVAL
    answered: float | None = None
    when_answered: Share | None = None
    tpr: LabelScore | None = None
    tnr: LabelScore | None = None


@dataclass(frozen=True, kw_only=True)
class Share:
    """How common a label is."""

    estimate: Number
    interval: Range


@dataclass(frozen=True, kw_only=True)
class AgreementPair:
    """How far two judges agree, or a judge and the truth.

    ``weighted_kappa`` (quadratic), ``within_one`` and ``bias`` (how much higher the first grades)
    are for grades in order and None elsewhere.
    """

    a: str
    b: str
    n_items: int
    raw: Share
    kappa: Share
    gwet_ac1: Share
    weighted_kappa: Share | None = None
    within_one: Share | None = None
    bias: Share | None = None


@dataclass(frozen=True, kw_only=True)
class AgreementTable:
    """Agreement of a panel.

    Parameters
    ----------
    between
        All judges together: raw agreement, Fleiss' kappa, Krippendorff's alpha, Gwet's AC1.
    pairs, with_truth
        Every pair of judges; every judge and the truth, on labelled items.
    ordinal
        Whether the labels are read as grades in order.
    note
        What limits the numbers, or nothing.
    """

    between: Mapping[str, Share]
    pairs: tuple[AgreementPair, ...]
    with_truth: tuple[AgreementPair, ...]
    ordinal: bool
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class CalibrationBin:
    """Labelled items with like probabilities: what was stated, and how many were right."""

    stated: float
    right: float
    labels: int


@dataclass(frozen=True, kw_only=True)
class CalibrationCheck:
    """How well item probabilities are calibrated, measured on labels that were left out.

    ``noise_floor`` is about what a perfect forecast would score on as many labels.
    """

    error: float
    noise_floor: float
    n_labels: int
    bins: tuple[CalibrationBin, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LabelsNeeded:
    """Forecasts of labels, in addition to those that are there.

    Parameters
    ----------
    precision
        For an interval of ± 5 points for every judge; 0 if they have it.
    leader
        To tell the leader from every rival; 0 if it is told, None if no forecast can be made.
    left
        Items of the table without a label: no forecast exceeds it.
    enough
        Whether labelling all that is left is expected to tell the leader.
    """

    precision: int
    leader: int | None
    left: int
    enough: bool


@dataclass(frozen=True, kw_only=True)
class CovariateEffect:
    """How a judge's errors, and its lean towards the positive label, change with a covariate.

    Slopes are per standard deviation of the covariate, as shares (0.04 is 4 points). With labels
    they are absolute; without, relative to the other judges, so a bias that all share shows
    nothing. ``lean`` is for two labels and None elsewhere.
    """

    judge: str
    covariate: str
    error: Share
    error_p: Number
    lean: Share | None
    lean_p: Number
    n_items: int
    relative: bool


@dataclass(frozen=True, kw_only=True)
class Solution:
    """One point that explains the votes equally well, and why it was chosen or not."""

    prevalence: Mapping[str, Number]
    accuracy: Mapping[str, Mapping[str, Number]]
    chosen: bool
    branch: str


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What one method says of all judges.

    ``rejected`` is True where labels refute it, False where they do not, None where nothing could
    (``why`` says so).
    """

    method: str
    assumption: str
    accuracy: Mapping[str, Number]
    prevalence: Mapping[str, Number] = field(default_factory=dict)
    rejected: bool | None = None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """Something that the votes (or labels) prove, and what that does not prove."""

    name: str
    proves: str
    does_not_prove: str


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that holds whatever the truth is.

    One of *judges* reaches at most *bound*, or at least *bound* where *at_least* is set.
    """

    text: str
    judges: tuple[str, ...]
    bound: float
    at_least: bool = False


# Items by judge, by its vote and by the consensus, counted once for all labels.
#
# Asking for each label anew costs the patterns times the labels: with 100 labels and 80,000
# patterns that took several seconds.


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelCells:
    """Items by judge, by its vote and by the consensus; counted once for all labels.

    Parameters
    ----------
    sizes, labelled
        Judges x votes x labels of the consensus: items, and labelled ones.
    hits
        Judges x labels x 4: labelled items of each true label, in the cells of `on_label`.
    """

    sizes: Ints
    labelled: Ints
    hits: Ints

    @classmethod
    def of(cls, ballots: Ballots, chosen: Ints) -> LabelCells:
        """Count *ballots* against *chosen*, the consensus label of each pattern.

        >>> from tallystick.table import Tally
        >>> votes = Tally.of({"a": [0, 1, 1], "b": [0, 1, 0], "gold": [0, None, 1]})
        >>> ballots = Ballots.of(votes, truth="gold")
        >>> LabelCells.of(ballots, ballots.codes[:, 0]).on_label(1)[0].tolist()
        [[2, 0, 0, 1], [1, 0, 1, 1]]
        """
        n_labels = len(ballots.classes)
        n_votes = n_labels + len(ballots.extras)
        known = ballots.truth >= 0
        sizes, labelled, hits = [], [], []
        for column in ballots.codes.T:
            voted = column >= 0
            cell = column * n_labels + chosen
            sizes.append(count_cells(ballots, voted, cell, n_votes * n_labels))
            labelled.append(count_cells(ballots, voted & known, cell, n_votes * n_labels))
            # Cells in the order of `on_label`: mine is the vote, theirs the consensus.
            wrong = 2 * (column != ballots.truth) + (chosen != ballots.truth)
            cell = ballots.truth * 4 + wrong
            hits.append(count_cells(ballots, voted & known, cell, n_labels * 4))
        shape = (len(ballots.names), n_votes, n_labels)
        return cls(
            sizes=np.reshape(sizes, shape),
            labelled=np.reshape(labelled, shape),
            hits=np.reshape(hits, (len(ballots.names), n_labels, 4)),
        )

    def on_label(self, c: int) -> tuple[Ints, Ints, Ints]:
        """Return judges x 4: items, labelled ones and those truly c.

        The cells: judge and consensus say c, only the judge, only the consensus, neither.
        """
        found = []
        for table in (self.sizes, self.labelled):
            both = table[:, c, c]
            mine, theirs = table[:, c].sum(axis=1), table[:, :, c].sum(axis=1)
            rest = table.sum(axis=(1, 2)) - mine - theirs + both
            found.append(np.stack((both, mine - both, theirs - both, rest), axis=1))
        return found[0], found[1], self.hits[:, c]


def count_cells(ballots: Ballots, where: NDArray[np.bool_], cell: Ints, size: int) -> Ints:
    """Return how many items lie in each cell, of those patterns *where* it is true."""
    counts = np.bincount(cell[where], weights=ballots.counts[where], minlength=size)
    return counts.astype(np.int64)
