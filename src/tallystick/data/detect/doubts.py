"""Reasons to ask: columns that look like votes and could be something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from tallystick.data.detect.beyond_chance import beyond_chance, kappas, plurality
from tallystick.data.detect.names import (
    CONSENSUS,
    WEAK_TRUTHS,
    are_voters,
    family,
    is_feature,
    tokens,
)
from tallystick.data.detect.profile import Profile
from tallystick.data.detect.reading import Notebook, listed
from tallystick.data.detect.sample import Sample
from tallystick.io import Label

__all__ = ["doubt_votes"]

Profiles = Mapping[str, Profile]

_MARKS: tuple[frozenset[Label], ...] = (
    frozenset({0, 1}),
    frozenset({"correct", "incorrect"}),
    frozenset({"right", "wrong"}),
    frozenset({"pass", "fail"}),
)
_RATINGS: tuple[frozenset[Label], ...] = tuple(
    frozenset(range(low, high + 1)) for low, high in ((1, 5), (1, 7), (1, 10), (0, 10))
)
_ANYTHING: tuple[frozenset[Label], ...] = (
    frozenset({"yes", "no"}),
    frozenset({"y", "n"}),
    frozenset({"true", "false"}),
    frozenset({True, False}),
    frozenset({"t", "f"}),
)
"""Words that facts of every sort have in common: sharing them says little."""

_SURE = 3.0
_CLOSE = 0.6
"""Kappa with the truth from which a column of such words is taken for an answer, whatever its name.
"""

_MOST_PAIRED = 40
_AGREE = 0.2
"""Mean kappa with the others from which a column that has no telling name is taken for a vote."""

_COPIES = CONSENSUS | WEAK_TRUTHS | {"truth", "true", "gold", "correct"}
"""Words for a column that is the truth, or was made from it."""


def doubt_votes(
    sample: Sample,
    profiles: Profiles,
    votes: tuple[str, ...],
    truth: str | None,
    silent: frozenset[Label],
    book: Notebook,
) -> None:
    """Ask wherever *votes* could be marks, ratings, facts or the truth itself."""
    said = frozenset(value for name in votes for value in profiles[name].values) - silent
    labels = profiles[truth].values if truth is not None else said
    others = [
        n for n in book.free if profiles[n].nature == "labels" and n not in votes and n != truth
    ]
    if labels in _RATINGS:
        low, *_, high = sorted(map(str, labels), key=int)
        book.ask(
            "--judges",
            f"{listed(votes)} hold the whole numbers {low} to {high}: name them as --judges if they"
            " are labels with no order, or as --models, without a truth, if they are ratings",
        )
    elif truth is not None:
        _doubt_against(sample, votes, truth, labels, silent, others, book)
    else:
        _doubt_alone(sample, votes, labels, silent, others, book)
        if not book.questions:
            _doubt_odd_ones(profiles, votes, book)


def _doubt_against(
    sample: Sample,
    votes: tuple[str, ...],
    truth: str,
    labels: frozenset[Label],
    silent: frozenset[Label],
    others: Sequence[str],
    book: Notebook,
) -> None:
    codes = sample.codes([truth, *votes], silent=silent)
    z = beyond_chance(codes[:, 0], codes[:, 1:])[1]
    together = float(beyond_chance(codes[:, 0], plurality(codes[:, 1:])[:, None])[1][0])
    if max(together, float(np.median(z))) < _SURE and (labels in _MARKS or not are_voters(votes)):
        book.ask(
            "--judges",
            f"{listed(votes)} hold the labels of {truth!r} but agree with it no more than by"
            " chance: name them as --judges if they are answers, or as --models with --ignore"
            f" {truth} if 1 marks a right answer",
        )
        return
    largest, size = Counter(map(family, votes)).most_common(1)[0]
    unnamed = [
        not are_voters((name,)) and (family(name) != largest or size < 3 or is_feature(name))
        for name in votes
    ]
    strange = [
        name for name, score, odd in zip(votes, z, unnamed, strict=True) if odd and score < _SURE
    ]
    agreement = kappas(codes)[0, 1:] if _says_little(labels) else np.ones(len(votes))
    loose = [
        name
        for name, kappa, odd in zip(votes, agreement, unnamed, strict=True)
        if odd and not kappa >= _CLOSE
    ]
    copies = [
        name
        for name, odd in zip(votes, unnamed, strict=True)
        if odd and set(tokens(name)) & _COPIES
    ]
    if strange:
        book.ask(
            "--judges",
            f"{listed(strange)} hold the labels of {truth!r} but agree with it no more than by"
            " chance: name the judges or models (--judges …), or leave out columns that are not"
            f" answers (--ignore {strange[0]})",
        )
    elif loose:
        book.ask(
            "--judges",
            f"{listed(loose)} hold {listed(sorted(map(str, labels)))} as {truth!r} does, but so do"
            " many facts: name the judges or models (--judges …), or leave out columns that"
            f" are not answers (--ignore {loose[0]})",
        )
    elif copies:
        book.ask(
            "--judges",
            f"column {copies[0]!r} may be the truth once more, or have been made from it: name the"
            f" judges or models (--judges …), or leave it out (--ignore {copies[0]})",
        )
    elif len(others) > len(votes) and not are_voters(votes):
        book.ask(
            "--judges",
            f"{listed(votes)} hold the labels of {truth!r}, but most columns ({listed(others)}) do"
            " not, so this may be a table of facts: name the judges or models",
        )


def _says_little(labels: frozenset[Label]) -> bool:
    """Whether facts of every sort use these labels: yes and no, or whole numbers."""
    return labels in _ANYTHING or all(isinstance(label, int | float) for label in labels)


def _doubt_alone(
    sample: Sample,
    votes: tuple[str, ...],
    labels: frozenset[Label],
    silent: frozenset[Label],
    others: Sequence[str],
    book: Notebook,
) -> None:
    judges = are_voters(votes, "judges")
    if len(votes) < 2 or len(others) > len(votes):
        seen = [*votes, *others]
        book.ask(
            "--judges",
            f"no group of columns clearly answers one question ({listed(seen)}): name the judges"
            " (--judges), or the models (--models), and the true labels if there are any"
            " (--truth)",
        )
    elif labels in _MARKS and not judges:
        shown = " and ".join(map(str, sorted(labels, key=repr)))
        book.ask(
            "--models or --judges",
            f"{listed(votes)} hold {shown} and no column is named as the truth: name them as"
            " --models if they mark right and wrong answers, or as --judges if they are the labels"
            " voted for (and --truth, if one of the columns is the truth)",
        )
    elif labels in _ANYTHING and not are_voters(votes):
        book.ask(
            "--judges",
            f"{listed(votes)} hold {listed(sorted(map(str, labels)))}, as facts of every sort do:"
            " name the judges or models (--judges), and the true labels if there are any"
            " (--truth)",
        )
    elif all(isinstance(label, int | float) for label in labels) and len(labels) > 2 and not judges:
        book.ask(
            "--judges or --models",
            f"{listed(votes)} hold the numbers {listed(sorted(map(str, labels)))}: name them as"
            " --judges if these are labels, or as --models if they are scores",
        )
    else:
        _doubt_agreement(sample, votes, silent, others, book)


def _doubt_agreement(
    sample: Sample,
    votes: tuple[str, ...],
    silent: frozenset[Label],
    others: Sequence[str],
    book: Notebook,
) -> None:
    """Ask about columns that neither their names nor their agreement with the others call votes."""
    families = Counter(map(family, votes))
    strange = [
        name
        for name in votes
        if not are_voters((name,)) and (families[family(name)] < 3 or is_feature(name))
    ]
    if not strange and are_voters(votes):
        return
    looked = tuple(dict.fromkeys((*strange, *votes)))[:_MOST_PAIRED]
    pairs = kappas(sample.codes(looked, silent=silent))
    np.fill_diagonal(pairs, np.nan)
    means = [
        float(row[np.isfinite(row)].mean()) if np.isfinite(row).any() else 0.0 for row in pairs
    ]
    doubtful = [
        name
        for name, mean in zip(looked, means, strict=True)
        if mean < _AGREE and name in (strange or votes)
    ]
    if doubtful or (not are_voters(votes) and (len(votes) < 3 or others)):
        shown = doubtful or votes
        book.ask(
            "--judges",
            f"{listed(shown)} hold the same values as others, but neither their names nor their"
            f" agreement (kappa {min(means):.2f}) say that all answer one question: name the judges"
            " (--judges), or leave out columns that are not answers (--ignore)",
        )


def _doubt_odd_ones(profiles: Profiles, votes: tuple[str, ...], book: Notebook) -> None:
    """Ask about the one vote that could be the truth: by its name, or because it alone is mostly
    blank.
    """
    families = Counter(family(name) for name in votes)
    for name in votes:
        alone = families[family(name)] == 1
        blank = profiles[name].blank > 0.5 and all(
            profiles[o].blank < 0.1 for o in votes if o != name
        )
        hints = set(tokens(name)) & _COPIES
        named = [other for other in votes if other != name and are_voters((other,))]
        unlike = 2 * len(named) >= len(votes) - 1 > 0 and not are_voters((name,))
        if alone and (blank or hints or unlike):
            why = "is filled in few rows only" if blank else "is not named like them"
            if hints:
                why = f"has {sorted(hints)[0]!r} in its name"
            book.ask(
                "--truth",
                f"column {name!r} holds the same labels as the others and {why}: is it the truth"
                f" (--truth {name}), one more judge (name all of them with --judges), or neither"
                f" (--ignore {name})?",
            )
            return
