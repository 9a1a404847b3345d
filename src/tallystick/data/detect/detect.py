"""Look at the columns of a table and say what each is taken for, and why; ask where that cannot be
told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from tallystick.data.assign import expand
from tallystick.data.detect.names import WEAK_TRUTHS, are_voters, is_truth, plain
from tallystick.data.detect.profile import Profile, look
from tallystick.data.detect.reading import ColumnUse, Detection, Notebook, listed
from tallystick.data.detect.sample import draw, spellings
from tallystick.data.detect.structure import find_structure
from tallystick.data.detect.uses import (
    find_confidences,
    find_prediction,
    find_validators,
    find_versions,
)
from tallystick.data.detect.voters import Search, Voters, find_voters
from tallystick.data.layout import Layout
from tallystick.data.roles import ALL_ROLES, GROUPS, Roles
from tallystick.errors import InputError
from tallystick.io import Table, unmatched
from tallystick.values.spelling import spelling

__all__ = ["detect"]

_SHOWN = frozenset(get_args(ColumnUse))

Profiles = Mapping[str, Profile]


def detect(
    table: Table,
    given: Roles | None = None,
    layout: Layout | None = None,
    *,
    missing: tuple[str, ...] | None = None,
    coerce: bool = False,
) -> Detection:
    """Say what the columns of *table* are.

    Values decide: which columns use the same labels, how far they agree beyond chance, how many
    values and blanks they have. Names are hints. What could be two things is asked, never guessed;
    everything in *given* is obeyed.

    Parameters
    ----------
    table
        What was read.
    given
        The roles that the caller named.
    layout
        Columns to ignore, and whether every row is an item of its own.
    missing
        Tokens that mean no answer; None asks about suspicious ones.
    coerce
        Whether several spellings of one label are read as one.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> columns = {"gold": list("abb") * 20, "gpt": list("aba") * 20, "claude": list("abb") * 20}
    >>> found = detect(scan(pa.table({"id": range(60), **columns})))
    >>> found.roles.item, found.roles.truth, found.roles.judges, found.questions
    ('id', 'gold', ('gpt', 'claude'), ())
    """
    named, shape = given or Roles(), layout or Layout()
    sample = draw(table, missing=missing or ())
    profiles = look(sample)
    single = _named_alone(table, named)
    outright = _named_outright(table, named)
    book = Notebook([name for name in profiles if name not in {*single.values(), *outright}])
    for role, column in single.items():
        if role in _SHOWN:
            # The item may have been found by its name while the table was read.
            why = "it names the rows" if role == "item" else "named as such"
            book.take([column], cast(ColumnUse, role), why)

    # What a row is comes first: items, slices, rounds and texts are not votes.
    found = {**find_structure(table, profiles, named, shape, book), **single}
    chosen = _named_groups(table, named, shape, book)
    book.take(chosen.get("ignore", ()), "not used", "you said so")
    for name in [name for name in book.free if name in table.doubtful and not coerce]:
        book.ask("--coerce", f"{table.doubtful[name]}, or leave it out (--ignore {name})")

    groups = ("judges", "models", "weak", "prediction")
    voting = tuple(dict.fromkeys(n for role in groups[:3] for n in chosen.get(role, ())))
    voters, scores = Voters(), chosen.get("models", ())
    is_marked = any(is_truth(name) for name in book.free if name not in voting)
    if scores and not named.truth and not is_marked:
        book.take(scores, "scores", "you said so, and there is no truth: higher is better")
    else:
        versions = tuple(name for name in (named.old, named.new) if name is not None)
        search = Search(table, sample, profiles, named, missing)
        voters, scores = find_voters(search, voting or versions, book), ()
        _tell_voters(search, voters, chosen, book)
    more = _uses(profiles, named, voters, chosen, book)
    if not voters.votes and not scores and not book.questions:
        scores = _find_scores(profiles, voters, book)
    _leave_out(profiles, book)

    slices = tuple(name for part in book.taken if part.role == "slice" for name in part.columns)
    prediction = chosen.get("prediction") or tuple(v for r, v in more.items() if r == "prediction")
    votes = tuple(name for name in voters.votes if name not in prediction)
    # A token may be for the truth alone.
    abstain = len(unmatched(table, votes, voters.missing)) < len(voters.missing)
    judged = bool(prediction) or "score" in {*more, *single}
    weak = chosen.get("weak", ()) or (votes if judged or abstain else ())
    others: dict[str, Any] = {
        role: column for role, column in {**found, **more}.items() if role != "prediction"
    }
    others["truth"] = voters.truth or named.truth
    roles = replace(
        named,
        **others,
        judges=votes,
        models=tuple(scores),
        weak=tuple(weak),
        prediction=tuple(prediction),
    )
    return Detection(
        roles=roles,
        slices=slices,
        missing=voters.missing or tuple(missing or ()),
        taken=tuple(book.taken),
        questions=tuple(book.questions),
        notes=tuple(book.notes),
    )


def _named_alone(table: Table, named: Roles) -> dict[str, str]:
    """Return the columns that the caller named one by one, role to column, checked."""
    single: dict[str, str] = {}
    holder: dict[str, str] = {}
    for role in ALL_ROLES:
        column = getattr(named, role)
        if role in GROUPS or column is None:
            continue
        if expand((column,), table) != (column,):
            raise InputError(f"--{role} names one column, got {column!r}")
        if column in holder:
            raise InputError(
                f"column {column!r} is given as {holder[column]} and as {role}: name two different"
                " columns"
            )
        single[role] = column
        holder[column] = role
    return single


def _named_outright(table: Table, named: Roles) -> tuple[str, ...]:
    """Return the columns of group options that are named in full: nothing else may be made of
    them.
    """
    patterns = (*named.judges, *named.models, *named.weak, *named.prediction)
    pieces = [
        piece
        for p in patterns
        for piece in ([p] if p in table.columns else map(str.strip, p.split(",")))
    ]
    return tuple(piece for piece in pieces if piece in table.columns)


def _named_groups(
    table: Table, named: Roles, layout: Layout, book: Notebook
) -> dict[str, tuple[str, ...]]:
    """Expand the group options; a glob passes over whatever has a role by now."""
    taken = {column: str(part.role) for part in book.taken for column in part.columns}
    found = {
        role: expand(getattr(named, role), table, taken)
        for role in ("judges", "models", "weak", "prediction")
        if getattr(named, role)
    }
    if layout.ignore:
        facts = ("slice", "text", "not used", "item")
        held = {column: role for column, role in taken.items() if role not in facts}
        found["ignore"] = expand(layout.ignore, table, held)
    return found


def _tell_voters(
    search: Search, voters: Voters, chosen: Mapping[str, tuple[str, ...]], book: Notebook
) -> None:
    """Note what was taken for the truth and the votes, and why."""
    sample, profiles, named = search.sample, search.profiles, search.named
    if book.questions:
        return
    truth = voters.truth
    if truth is not None and truth != named.truth:
        profile = profiles[truth]
        how = (
            "its name"
            if is_truth(truth)
            else "its name, and votes with its labels that agree with it beyond chance"
        )
        part = (
            f"; it is known on {profile.filled:,} of {profile.rows:,} rows" if profile.blank else ""
        )
        book.take(
            [truth],
            "truth",
            f"{how}; {len(profile.values)} labels"
            f" ({listed(sorted(map(str, profile.values)))}){part}",
        )
    if voters.votes:
        if chosen.keys() - {"ignore"}:
            why = "you said so"
        elif truth is not None:
            silent = (
                frozenset(value for name in voters.votes for value in profiles[name].values)
                - profiles[truth].values
            )
            codes = sample.codes([truth, *voters.votes], silent=silent)
            both = (codes[:, :1] >= 0) & (codes[:, 1:] >= 0)
            right = float((codes[:, 1:] == codes[:, :1])[both].mean()) if both.any() else 0.0
            why = f"they use the labels of {truth!r} and say it in {100 * right:.0f} % of the cells"
        else:
            why = "they use the same labels and answer the same question"
        if voters.missing and search.missing is None:
            why += f"; {listed(voters.missing)} means no vote, since it never is the truth"
        book.take(voters.votes, "votes", why)
    if truth is not None and not search.missing:
        strange = {v for name in voters.votes for v in profiles[name].values} - profiles[
            truth
        ].values
        strange -= set(map(spelling, voters.missing))
        if strange and not profiles[truth].blank:
            shown = sorted(
                token for value in strange for token in spellings(search.table, voters.votes, value)
            )
            book.notes.append(
                f"{listed(shown)} never is the truth and counts as wrong; if it means no answer,"
                f" say --missing={shown[0]}"
            )


def named_single(named: Roles) -> dict[str, str]:
    """Return the roles of one column that the caller named, role to column."""
    return {
        role: column
        for role, column in named.__dict__.items()
        if role not in GROUPS and column is not None
    }


def _uses(
    profiles: Profiles,
    named: Roles,
    voters: Voters,
    chosen: Mapping[str, tuple[str, ...]],
    book: Notebook,
) -> dict[str, str]:
    """Find what only one capability needs: versions, confidences, a classifier, validators."""
    if book.questions:
        return {}
    more = find_versions(voters, named, book)
    more |= find_confidences(profiles, voters, {**more, **named_single(named)}, book)
    more |= find_prediction(profiles, voters, named, bool(chosen.get("weak")), book)
    more |= find_validators(profiles, voters, named, book)
    return more


def _find_scores(profiles: Profiles, voters: Voters, book: Notebook) -> tuple[str, ...]:
    """Take numbers between 0 and 1 in columns named like models for scores; ask about any other
    table.
    """
    numbers = [name for name in book.free if profiles[name].nature == "numbers"]
    labels = [name for name in book.free if profiles[name].nature == "labels"]
    flat = [
        name
        for name in book.free
        if profiles[name].nature == "constant" and are_voters((name,), "models")
    ]
    within = tuple(n for n in (*numbers, *flat) if _within_unit(profiles[n]))
    targets = [name for name in labels if is_truth(name) or plain(name) in WEAK_TRUTHS]
    several = sum(name in numbers for name in within) >= 2 and len(within) > len(labels)
    if voters.truth is None and several and are_voters(within, "models") and not targets:
        book.take(
            within,
            "scores",
            "numbers between 0 and 1 in columns named like models: higher is better",
        )
        return within
    seen = f"; the columns left are {listed(book.free)}" if book.free else ""
    truth = (
        f"{voters.truth!r} is taken for the truth, but no column uses its labels"
        if voters.truth
        else ("no group of columns clearly answers one question")
    )
    book.ask(
        "--judges",
        f"{truth}{seen}: name the judges or weak labels (--judges), or the models (--models, with"
        " scores or with a --truth)",
    )
    return ()


def _within_unit(profile: Profile) -> bool:
    return (
        profile.low is not None
        and profile.high is not None
        and profile.low >= 0
        and profile.high <= 1
    )


def _leave_out(profiles: Profiles, book: Notebook) -> None:
    text = [name for name in book.free if profiles[name].nature == "text"]
    book.take(text, "text", "more values than labels would have")
    numbers = [name for name in book.free if profiles[name].nature == "numbers"]
    book.take(numbers, "not used", "numbers whose meaning is not known here")
    constant = [name for name in book.free if profiles[name].nature == "constant"]
    book.take(constant, "not used", "the same value everywhere")
    if not book.questions:
        book.take(list(book.free), "not used", "their values are not the labels that are voted on")
