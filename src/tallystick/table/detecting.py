"""Look at the columns of a table and say what each is taken for, and why; ask where that cannot be
told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any, cast, get_args

from tallystick.errors import InputError
from tallystick.table.cells import Label, spelling
from tallystick.table.detect_doubts import (
    ColumnUse,
    Detection,
    Notebook,
    Profile,
    as_option,
    doubt_votes,
    find_structure,
    listed,
    look,
)
from tallystick.table.detect_names import (
    CONFIDENCES,
    PREDICTIONS,
    WEAK_TRUTHS,
    are_voters,
    era,
    family,
    is_truth,
    plain,
    tokens,
)
from tallystick.table.detect_sample import Sample, beyond_chance, draw, plurality, spellings
from tallystick.table.numbers import unmatched
from tallystick.table.roles import ALL_ROLES, GROUPS, Layout, Roles, expand
from tallystick.table.tables import Table
from tallystick.table.words import NEVER_TRUE, NO_ANSWER, TIES, is_no_answer

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
    >>> from tallystick.table import scan
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


# Which columns answer the same question, and which of them is the truth.


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
            *(_one_truth(name, strong) for name in strong),
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
            *(_one_truth(name, fitting) for name in fitting),
        )
    unsure = [name for name in doubtful if mates[name]]
    if unsure and not fitting:
        book.ask(
            "--truth",
            f"column {unsure[0]!r} could be the truth of {listed(mates[unsure[0]])}, but nothing"
            f" says that these are judges or models; name both (--truth {unsure[0]} --judges …), or"
            f" --ignore {unsure[0]}",
            f"{as_option('truth', unsure[:1])} {as_option('judges', mates[unsure[0]])}",
        )
    return fitting[0] if len(fitting) == 1 else None


def _one_truth(name: str, likely: Sequence[str]) -> str:
    others = [other for other in likely if other != name]
    return f"{as_option('truth', [name])} {as_option('ignore', others)}"


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
        f"--missing={quote(','.join([*codes, *doubtful]))}",
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


# What only some capabilities need: versions of one API, confidences, a classifier beside weak
# labels, validators.


_SCORES = frozenset(
    {"score", "prob", "proba", "probability", "p_hat", "confidence", "y_score", "y_prob"}
)
_CLASSIFIERS = PREDICTIONS | {
    "y_pred",
    "y_hat",
    "pred_label",
    "predicted_label",
    "model_prediction",
}
_VALIDATORS = frozenset({"verifier", "verifiers", "validator", "validators"})


def find_versions(voters: Voters, named: Roles, book: Notebook) -> dict[str, str]:
    """Find the two votes that are one API before and after, by their names."""
    if named.old is not None or named.new is not None:
        return {}
    dated = {name: era(name) for name in voters.votes}
    times = sorted((when, name) for name, when in dated.items() if when is not None)
    if len(times) != 2 or times[0][0][0] != times[1][0][0] or times[0][0] == times[1][0]:
        if len(times) > 2:
            book.notes.append(
                f"{listed([n for _, n in times])} look like versions; name two of them (--old,"
                " --new)"
            )
        return {}
    (_, old), (_, new) = times
    rests = [[word for word in tokens(name) if era(word) is None] for name in (old, new)]
    if any(rests) and not set(rests[0]) & set(rests[1]):  # new_york is no version of old_town
        return {}
    book.take([old], "old", f"a vote whose name says that it came before {new!r}")
    book.take([new], "new", f"a vote whose name says that it came after {old!r}")
    return {"old": old, "new": new}


def find_confidences(
    profiles: Profiles, voters: Voters, roles: Mapping[str, str], book: Notebook
) -> dict[str, str]:
    """Find the numbers that go with a vote by name (conf_X with pred_X); that of the old version is
    used.
    """
    owners: dict[str, str] = {}
    for name in book.free:
        if profiles[name].low is None or not set(tokens(name)) & CONFIDENCES:
            continue
        rest = set(tokens(name)) - CONFIDENCES
        mine = [vote for vote in voters.votes if rest and rest <= set(tokens(vote))]
        if len(mine) == 1:
            owners[name] = mine[0]
    used = next((name for name, vote in owners.items() if vote == roles.get("old")), None)
    if used is not None and "confidence" not in roles:
        book.take([used], "confidence", f"numbers that go with {owners[used]!r} by name")
    book.take(
        [name for name in owners if name != used],
        "not used",
        "confidences that go with votes; no method here needs them",
    )
    return {"confidence": used} if used is not None and "confidence" not in roles else {}


def find_prediction(
    profiles: Profiles, voters: Voters, named: Roles, weak: bool, book: Notebook
) -> dict[str, str]:
    """Find the classifier whose bounds the weak labels give: its predictions, or its score between
    0 and 1.
    """
    if named.prediction or named.score is not None:
        return {}
    others = tuple(name for name in voters.votes if plain(name) not in _CLASSIFIERS)
    said = [name for name in voters.votes if plain(name) in _CLASSIFIERS]
    if not others or not (weak or voters.missing or are_voters(others, "judges")):
        return {}
    if len(said) == 1:
        book.take(said, "prediction", f"its name, beside the weak labels {listed(others)}")
        return {"prediction": said[0]}
    scores = [
        name
        for name in book.free
        if plain(name) in _SCORES
        and profiles[name].low is not None
        and (profiles[name].low or 0) >= 0
        and (profiles[name].high or 0) <= 1
        and profiles[name].nature == "numbers"
    ]
    if len(scores) == 1 and not said:
        book.take(
            scores,
            "score",
            f"its name, and numbers between 0 and 1 beside the weak labels {listed(others)}",
        )
        return {"score": scores[0]}
    return {}


def find_validators(
    profiles: Profiles, voters: Voters, named: Roles, book: Notebook
) -> dict[str, str]:
    """Find the cell of validators' labels (``cnc``), made of nothing but labels of the truth."""
    if named.validators is not None or voters.truth is None:
        return {}
    labels = {str(value) for value in profiles[voters.truth].values}
    for name in book.free:
        if not set(tokens(name)) & _VALIDATORS:
            continue
        cells = [str(value) for value in profiles[name].values]
        if cells and all(set(cell) <= labels or set(cell.split(",")) <= labels for cell in cells):
            book.take(
                [name],
                "validators",
                f"its name, and cells made of the labels of {voters.truth!r} only",
            )
            return {"validators": name}
    return {}
