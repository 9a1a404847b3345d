"""Which columns answer the same question, and which of them is the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tallystick.data.detect.beyond_chance import beyond_chance, plurality
from tallystick.data.detect.doubts import doubt_votes
from tallystick.data.detect.names import WEAK_TRUTHS, are_voters, family, is_truth, plain
from tallystick.data.detect.profile import Profile
from tallystick.data.detect.reading import Notebook, listed
from tallystick.data.detect.sample import Sample, spellings
from tallystick.data.roles import Roles
from tallystick.io import Label, Table
from tallystick.values.spelling import spelling
from tallystick.values.words import NEVER_TRUE, NO_ANSWER, TIES, is_no_answer

__all__ = ["ABSTAIN", "Search", "Voters", "find_voters"]

Profiles = Mapping[str, Profile]

ABSTAIN: frozenset[Label] = NO_ANSWER | {-1}
"""Codes for "I do not vote", where the truth never has them."""

_DOUBTFUL: frozenset[Label] = NEVER_TRUE - TIES
"""Votes that may mean no answer, or be an answer that is never right."""

_SURE = 3.0
"""Standard errors above chance from which agreement is no accident."""


@dataclass(frozen=True)
class Voters:
    """The columns that vote, the truth that they are held against, and the codes that mean no
    vote.
    """

    votes: tuple[str, ...] = ()
    truth: str | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Search:
    """Where to look for the votes, and what the caller said.

    Parameters
    ----------
    table, sample, profiles
        The table, its sampled rows, and what each column looks like.
    named
        The roles that the caller named.
    missing
        Tokens that mean no answer; None asks about suspicious ones.
    """

    table: Table
    sample: Sample
    profiles: Profiles
    named: Roles
    missing: tuple[str, ...] | None


def find_voters(search: Search, chosen: Sequence[str], book: Notebook) -> Voters:
    """Find the truth and the votes among the free columns, or ask.

    Parameters
    ----------
    search
        Where to look.
    chosen
        Columns that the caller named as judges, models or weak labels; with them the votes are not
        looked for.
    book
        What has been found so far.
    """
    sample, profiles, named = search.sample, search.profiles, search.named
    truth = named.truth or _truth_by_name(profiles, chosen, book)
    free = [
        name for name in book.free if profiles[name].counts and name != truth and name not in chosen
    ]
    if truth is None and not chosen and not book.questions:
        truth = _truth_by_content(sample, profiles, free, book)
    if book.questions:
        return Voters()
    others = [name for name in free if name != truth]
    votes = tuple(chosen) or _votes(profiles, others, truth)
    if not votes:
        return Voters(truth=truth)
    missing = _missing(search, votes, truth, book)
    if not chosen and not book.questions:
        # else blank by now
        silent = frozenset(map(spelling, missing)) if search.missing is None else frozenset()
        doubt_votes(sample, profiles, votes, truth, silent, book)
    return Voters() if book.questions else Voters(votes, truth, missing)


def _truth_by_name(profiles: Profiles, chosen: Sequence[str], book: Notebook) -> str | None:
    strong = [name for name in book.free if is_truth(name) and name not in chosen]
    if len(strong) > 1:
        book.ask(
            "--truth",
            f"columns {listed(strong)} are all named like the truth: name one, and --ignore the"
            " others",
        )
        return None
    if strong and profiles[strong[0]].nature not in ("labels", "constant"):
        book.ask(
            "--truth",
            f"column {strong[0]!r} is named like the truth but has {profiles[strong[0]].distinct:,}"
            " different values, which are not labels; name another column, or leave it out"
            f" (--ignore {strong[0]})",
        )
        return None
    return strong[0] if strong else None


def _truth_by_content(
    sample: Sample, profiles: Profiles, free: Sequence[str], book: Notebook
) -> str | None:
    """Accept a name that truths often have if named voters use its labels and agree with it beyond
    chance.
    """
    doubtful = [
        name for name in free if plain(name) in WEAK_TRUTHS and profiles[name].nature == "labels"
    ]
    rest = [name for name in free if name not in doubtful]
    mates = {name: _mates(profiles, rest, profiles[name].values) for name in doubtful}
    fitting = []
    for name, votes in mates.items():
        if not votes or not are_voters(votes):
            continue
        codes = sample.codes([name, *votes], silent=ABSTAIN - profiles[name].values)
        most = plurality(codes[:, 1:])
        both = (most >= 0) & (codes[:, 0] >= 0)
        if len(votes) >= 3 and both.any() and (most == codes[:, 0])[both].mean() > 0.995:
            book.ask(
                "--truth",
                f"column {name!r} is the majority of {listed(votes)} on nearly every item, so it"
                f" may have been made from them; say --truth {name} if it was not, or --ignore"
                f" {name}",
            )
            return None
        if beyond_chance(codes[:, 0], codes[:, 1:])[1].max() > _SURE:
            fitting.append(name)
    if len(fitting) > 1:
        book.ask(
            "--truth",
            f"columns {listed(fitting)} could each be the truth: name one, and --ignore the others",
        )
    unsure = [name for name in doubtful if mates[name]]
    if unsure and not fitting:
        book.ask(
            "--truth",
            f"column {unsure[0]!r} could be the truth of {listed(mates[unsure[0]])}, but nothing"
            f" says that these are judges or models; name both (--truth {unsure[0]} --judges …), or"
            f" --ignore {unsure[0]}",
        )
    return fitting[0] if len(fitting) == 1 else None


def _mates(profiles: Profiles, free: Sequence[str], labels: frozenset[Label]) -> tuple[str, ...]:
    """Return the columns that mostly say *labels*, and those of the same family of names that do so
    at all.
    """
    silent = ABSTAIN - labels
    plain_mates = [
        n
        for n in free
        if profiles[n].nature in ("labels", "constant") and _share(profiles[n], labels) >= 0.5
    ]
    names = Counter(family(name) for name in plain_mates)
    common = {name for name, count in names.items() if count >= 2}
    return tuple(
        name
        for name in free
        if name in plain_mates
        or (
            family(name) in common
            and (_share(profiles[name], labels) > 0 or profiles[name].values <= silent)
        )
    )


def _share(profile: Profile, labels: frozenset[Label]) -> float:
    """Return which share of the votes of a column is one of *labels*, abstentions left out."""
    spoken = {
        value: count for value, count in profile.counts.items() if value not in ABSTAIN - labels
    }
    return (
        sum(c for v, c in spoken.items() if v in labels) / sum(spoken.values()) if spoken else 0.0
    )


def _votes(profiles: Profiles, free: Sequence[str], truth: str | None) -> tuple[str, ...]:
    if truth is not None:
        return _mates(profiles, free, profiles[truth].values)
    sets = {profiles[name].values - ABSTAIN for name in free if profiles[name].nature == "labels"}
    groups = [
        _mates(profiles, free, labels)
        for labels in sorted(sets, key=lambda s: (len(s), sorted(map(repr, s))))
    ]
    return max(groups, key=len, default=())


def _missing(
    search: Search, votes: Sequence[str], truth: str | None, book: Notebook
) -> tuple[str, ...]:
    """Return the codes that mean no vote, as they are written, or ask about what only looks like
    one.
    """
    if search.missing is not None:
        return search.missing
    table, profiles = search.table, search.profiles
    said: Counter[Label] = Counter()
    for name in votes:
        said.update(profiles[name].counts)
    true = profiles[truth].values if truth is not None else frozenset()
    codes: list[str] = []
    doubtful: dict[str, list[str]] = {}
    for value in sorted((_DOUBTFUL | ABSTAIN) & set(said) - true, key=repr):
        if value == -1 and set(said) == {-1, 1}:
            continue  # these are the two labels
        holders = [name for name in votes if value in profiles[name].values]
        written = spellings(table, holders, value)
        # "None" is a common name of a class; several judges who use it may well mean the class.
        named_class = value == "none" and truth is None and len(holders) > 1
        certain = value in ABSTAIN and _is_abstention(value, said, profiles, votes, truth)
        if certain and not named_class:
            codes += written
        else:
            doubtful |= dict.fromkeys(written, holders)
    if truth is not None:
        for value in sorted(set(_unknown_in(true)) - set(said), key=repr):
            written = spellings(table, [truth], value)
            # A word for no answer that only the truth holds is read as one, as in every verb.
            if is_no_answer(value):
                codes += written
            else:
                doubtful |= {token: [truth] for token in written}
    if not doubtful:
        return tuple(codes)
    shown = " and ".join(f"{token!r} in {listed(holders)}" for token, holders in doubtful.items())
    one = len(doubtful) == 1
    book.ask(
        "--missing",
        f"{'does' if one else 'do'} {shown} mean no answer"
        f" (--missing={','.join([*codes, *doubtful])}), or"
        f" {'is it an answer' if one else 'are they answers'} like any other"
        f" (--missing={','.join(codes)})?",
    )
    return ()


def _is_abstention(
    value: Label,
    said: Mapping[Label, int],
    profiles: Profiles,
    votes: Sequence[str],
    truth: str | None,
) -> bool:
    if truth is None:
        return value != -1 or (are_voters(tuple(votes), "judges") and 0 in said)
    expected = profiles[truth].filled * said[value] / sum(said.values())
    return expected >= 20  # as a label it would have shown in the truth


def _unknown_in(true: Iterable[Label]) -> tuple[Label, ...]:
    """Return the labels of a truth that are written like "not known".

    A -1 is a label like any other beside nothing but 1, and beside other numbers below 0.
    """
    known = [label for label in true if label is not None]
    meanings = {label: spelling(label) for label in known}
    rest = {meaning for meaning in meanings.values() if meaning != -1}
    code = (
        bool(rest)
        and rest != {1}
        and not any(not isinstance(m, str) and m is not None and m < 0 for m in rest)
    )
    return tuple(
        label
        for label in known
        if is_no_answer(label) or meanings[label] == "unknown" or (code and meanings[label] == -1)
    )
