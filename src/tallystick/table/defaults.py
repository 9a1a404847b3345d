"""Which columns vote, where the caller names none: columns that share one set of labels.

Identifiers, free text, measurements and a column that is named like the truth are never taken.
Why a column is left out is part of the reading. Where two groups fit, the caller is asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import AskError, InputError
from tallystick.table.cells import (
    Label,
    as_number,
    identifier,
    is_missing,
    spelling,
    without_missing,
)
from tallystick.table.data import VOTES, Data, cells_of
from tallystick.table.detect_doubts import Profile, listed, look
from tallystick.table.detect_names import (
    MEASURES,
    ROUNDS,
    SLICES,
    SPLITS,
    fact,
    is_identifier,
    is_item,
    is_mark,
    is_truth,
    may_be_truth,
    plain,
    tokens,
)
from tallystick.table.detect_sample import Sample, draw, kappas
from tallystick.table.engine import as_numpy
from tallystick.table.numbers import failed_marks
from tallystick.table.roles import Roles
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.truth import unlike_models
from tallystick.table.words import NEVER_TRUE, NO_ANSWER, as_pass_fail, is_no_answer

Profiles = Mapping[str, Profile]

_MOSTLY = 0.5
"""Share of a column's votes that must be labels of the group."""

_UNRELATED = 0.05
_RELATED = 0.2
"""A column below the first kappa with the others, while they agree above the second, is asked
about: it shares their labels and says nothing about their question.
"""

_ONE_SCALE = 20.0
"""Scores whose ranges differ by more than this factor are not scores of one metric."""

_FIRST_ROWS = 100_000
"""Rows in which a column is checked for numbering the rows of a group."""


Choice: TypeAlias = tuple[tuple[str, ...], Mapping[str, str]]
"""What was taken, and why each other column was not."""


def default_columns(table: Table, roles: Roles, want: str, missing: Sequence[str] = ()) -> Choice:
    """Return the columns that fill the group *want*, and why the others do not; ask if in doubt.

    Parameters
    ----------
    table, roles
        What was read, and the roles known so far; their columns are not taken again.
    want
        ``judges`` or ``weak`` (labels), or ``models`` (answers beside a truth, else scores).
    missing
        Tokens for no answer.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> columns = {"gpt": ["yes", "no"] * 9, "claude": ["yes", "yes"] * 9, "topic": ["a", "b"] * 9}
    >>> default_columns(scan(pa.table(columns)), Roles(), "judges")[0]
    ('gpt', 'claude')
    """
    sample = draw(table, missing=missing)
    profiles = look(sample)
    free, left_out = free_columns(table, profiles, roles)
    if want == "models" and roles.truth is None:
        free, left_out = _without_numbering(table, profiles, free, left_out, roles)
        choice = _scores(table, profiles, free, left_out)
    elif roles.truth is not None and _labels_of(profiles[roles.truth]):
        choice = _beside_truth(table, profiles, free, left_out, roles.truth, want)
    else:
        choice = _sharing_labels(table, sample, profiles, free, left_out, want)
    if roles.truth is None:
        _ask_about_truth(table, choice[0], want)
    return choice


def free_columns(
    table: Table, profiles: Profiles, roles: Roles
) -> tuple[list[str], dict[str, str]]:
    """Return the columns that could be votes, and why the others are not.

    Columns that are named like facts (``is_long``, ``seed``, ``weight``) are left out where other
    columns are left.
    """
    holders = roles.holders()
    free: list[str] = []
    left_out: dict[str, str] = {}
    for name, profile in profiles.items():
        if name in holders and holders[name] != "by":
            continue
        reason = _why_not(name, profile, roles)
        if reason is None:
            free.append(name)
        else:
            left_out[name] = reason
    facts = {name: what for name in free if (what := fact(name)) is not None}
    # One column is enough beside a truth or systems; models and judges alone are two at least.
    least = 1 if roles.truth is not None or roles.system is not None else 2
    if facts and len(free) - len(facts) >= least:
        free = [name for name in free if name not in facts]
        left_out |= {name: f"named like {what}" for name, what in facts.items()}
    for name, reason in table.doubtful.items():
        if name in free:
            raise InputError(f"{table.source}: {reason}")
    return free, left_out


def _why_not(name: str, profile: Profile, roles: Roles) -> str | None:
    if profile.nature == "empty":
        return "every cell is blank"
    if is_truth(name):
        return "named like the truth: add --truth to use it" if roles.truth is None else "a truth"
    if is_identifier(name) or is_item(name):
        return "named like an identifier"
    # A few different values may be labels of the truth, however few rows there are.
    if profile.nature == "text" and (roles.truth is None or not profile.counts):
        likely_scores = profile.numeric >= _MOSTLY
        return None if likely_scores else f"text or an identifier, {profile.distinct:,} values"
    if plain(name) in SPLITS | SLICES:
        return "named like a slice"
    if plain(name) in ROUNDS:
        return "named like a round"
    return None


def _answered(profile: Profile) -> list[Label]:
    """Return the values of a column, words for no answer left out."""
    return [label for label in sorted(profile.values, key=repr) if not is_no_answer(label)]


def _labels_of(profile: Profile) -> frozenset[Label]:
    """Return the labels of a column, words for no answer and for no verdict left out."""
    aside = NO_ANSWER | NEVER_TRUE
    return frozenset(
        label for label in profile.values if not (isinstance(label, str) and label in aside)
    )


def _some(profiles: Profiles, columns: Sequence[str]) -> str:
    """Return the first labels of *columns*, for a message."""
    labels = sorted({str(one) for name in columns for one in _labels_of(profiles[name])})
    return ", ".join(labels[:3]) + (", …" if len(labels) > 3 else "")


def _share(profile: Profile, labels: frozenset[Label]) -> float:
    """Return which share of a column's votes is one of *labels*."""
    spoken = {label: n for label, n in profile.counts.items() if label in _labels_of(profile)}
    inside = sum(n for label, n in spoken.items() if label in labels)
    return inside / sum(spoken.values()) if spoken else 0.0


def _beside_truth(
    table: Table,
    profiles: Profiles,
    free: Sequence[str],
    left_out: dict[str, str],
    truth: str,
    want: str,
) -> Choice:
    labels = _labels_of(profiles[truth])
    taken = [name for name in free if _share(profiles[name], labels) >= _MOSTLY]
    # What says whether an answer was right is no answer itself.
    marks = [name for name in taken if is_mark(name)]
    if want == "models" and len(marks) < len(taken):
        taken = [name for name in taken if name not in marks]
        left_out = {**left_out, **dict.fromkeys(marks, "named like right and wrong")}
    if not taken:
        shown = ", ".join(map(str, sorted(labels, key=repr)[:4]))
        if len(labels) == 1:
            raise InputError(
                f"{table.source}: the truth {truth!r} says {shown} and nothing else. A blank cell"
                " means that nobody knows: where it means the other label, write that label"
            )
        raise InputError(
            f"{table.source}: no column uses the labels of {truth!r} ({shown}). Name the columns"
            " that vote (--judges, --models or --weak), or write their labels like those of the"
            " truth"
        )
    other = {name: "other labels than the truth" for name in free if name not in taken}
    other = {name: why for name, why in other.items() if name not in left_out}
    return tuple(taken), {**left_out, **other}


def _sharing_labels(
    table: Table,
    sample: Sample,
    profiles: Profiles,
    free: Sequence[str],
    left_out: dict[str, str],
    want: str,
) -> Choice:
    """Take the largest group of columns with one set of labels; ask where two groups fit."""
    numbers = [name for name in free if profiles[name].nature in ("numbers", "text")]
    out = {**left_out, **dict.fromkeys(numbers, "numbers with many values")}
    likely = [name for name in free if name not in numbers]
    groups = _groups(profiles, likely)
    if not groups:
        raise InputError(
            f"{table.source}: no column holds labels that repeat, so nothing votes here. Name the"
            f" columns that do (--{want})" + _seen(out)
        )
    first, *rest = groups
    rivals = [group for group in rest if len(group) >= 2 or len(first) < 2]
    if rivals:
        raise _which(
            want,
            (first, rivals[0]),
            f"{table.source}: which columns are {want}? {listed(first)} and {listed(rivals[0])} use"
            f" different labels ({_some(profiles, first)} and {_some(profiles, rivals[0])})."
            " If they mean the same, write them alike.",
        )
    _ask_about_strangers(table, sample, first, want)
    other = {name: "other labels" for name in likely if name not in first}
    return first, {**out, **other}


def _groups(profiles: Profiles, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return disjoint groups of columns that share labels, the largest first."""
    sets = {_labels_of(profiles[name]) for name in columns if profiles[name].nature == "labels"}
    # Where nobody ever disagrees, columns of one and the same label are all that votes.
    sets = sets or {_labels_of(profiles[name]) for name in columns}
    groups = [
        tuple(name for name in columns if _share(profiles[name], labels) > _MOSTLY)
        for labels in sorted(sets, key=lambda s: (-len(s), sorted(map(repr, s))))
    ]
    groups.sort(key=len, reverse=True)
    kept: list[tuple[str, ...]] = []
    for group in groups:
        fresh = tuple(name for name in group if not any(name in held for held in kept))
        if fresh == group:
            kept.append(group)
    alone = [name for name in columns if not any(name in group for group in kept)]
    return [group for group in kept if group] + [
        (name,) for name in alone if profiles[name].nature == "labels"
    ]


def _ask_about_strangers(table: Table, sample: Sample, votes: tuple[str, ...], want: str) -> None:
    """Ask about a column that shares the labels of the others but not their question."""
    if len(votes) < 4:
        return
    pairs = kappas(sample.codes(votes[:40]))
    np.fill_diagonal(pairs, np.nan)
    means = np.array([np.nanmean(row) if np.isfinite(row).any() else np.nan for row in pairs])
    strange = [name for name, mean in zip(votes, means, strict=False) if mean < _UNRELATED]
    rest = [k for k, name in enumerate(votes[:40]) if name not in strange]
    inner = pairs[np.ix_(rest, rest)]
    if strange and len(rest) >= 3 and np.nanmean(inner) > _RELATED:
        raise _which(
            want,
            (tuple(name for name in votes if name not in strange), votes),
            f"{table.source}: which columns are {want}? {listed(strange)} hold the labels of the"
            " other columns but agree with them no more than by chance.",
        )


def _which(want: str, groups: Sequence[Sequence[str]], question: str) -> AskError:
    """Return the question which columns vote, with the likelier group first."""
    named = tuple(",".join(group) for group in groups)
    calls = tuple(f"--{want} {quote(one)}" for one in named)
    return AskError(question, role=want, candidates=named, calls=calls)


def _ask_about_truth(table: Table, votes: tuple[str, ...], want: str) -> None:
    """Ask about the one column whose name can mean the truth or one more voter."""
    # A y beside columns of longer names is the truth of statisticians; x, y and z are three models.
    letters = sum(len(plain(name)) == 1 for name in votes)
    likely = [name for name in votes if may_be_truth(name) or (plain(name) == "y" and letters == 1)]
    # Several such columns are people who vote; among two columns it is one of two voters.
    if len(likely) != 1 or len(votes) < 3:
        return
    raise AskError(
        f"{table.source}: is column {likely[0]!r} the truth, or one more of the {want}?",
        role="truth",
        candidates=(likely[0],),
        calls=(f"--truth {quote(likely[0])}", f"--{want} {quote(','.join(votes))}"),
    )


_ROW_NUMBERS = frozenset({"row", "rows", "line", "no", "nr", "num", "number", "n", "unnamed_0"})
"""How people head a column that counts the rows of the table."""


def _without_numbering(
    table: Table, profiles: Profiles, free: list[str], left_out: dict[str, str], roles: Roles
) -> tuple[list[str], dict[str, str]]:
    """Leave out columns that number the rows of each group, such as the questions on a document."""
    known = (roles.cluster, roles.item, *left_out)
    groups = [name for name in known if name is not None and name in profiles]
    groups += [name for name in free if profiles[name].numeric < _MOSTLY]
    kept, out = list(free), dict(left_out)
    for name in free:
        if profiles[name].numeric < 1.0 or not _is_run(profiles[name]):
            continue
        group = next((one for one in groups if one != name and _numbers(table, name, one)), None)
        if group is None and plain(name) in _ROW_NUMBERS and _counts_all(profiles[name]):
            kept.remove(name)
            out[name] = "numbers the rows"
        if group is not None:
            kept.remove(name)
            new = "" if roles.cluster else f"; --cluster {group!r} asks about new ones"
            # Numbers that never repeat count the whole table, and not each group anew.
            rows = "the rows" if _counts_all(profiles[name]) else f"the rows of each {group!r}"
            out[name] = f"numbers {rows}{new}"
    return kept, out


def _counts_all(profile: Profile) -> bool:
    """Say whether a column without a gap never repeats a number."""
    return profile.distinct == profile.seen == profile.rows


def _is_run(profile: Profile) -> bool:
    """Say whether a column holds whole numbers without a gap, from 0 or 1 to 2 at least."""
    low, high = profile.low, profile.high
    return low in (0.0, 1.0) and high is not None and 2 <= high == low + profile.distinct - 1


def _numbers(table: Table, name: str, group: str) -> bool:
    """Say whether no number repeats within a group and most groups have several rows."""
    cell, by = identifier(name), identifier(group)
    [(rows, pairs, groups)] = table.query(
        f"select count(*), count(distinct ({by}, {cell})), count(distinct {by})"
        f" from (select * from rows limit {_FIRST_ROWS})"
    )
    return bool(rows == pairs and rows >= 2 * groups > 2)


def _scores(
    table: Table, profiles: Profiles, free: Sequence[str], left_out: dict[str, str]
) -> Choice:
    """Take columns of numbers on one scale, or of marks such as pass and fail."""
    # A chart of Weights & Biases has a column for each run, and two for the range around it.
    ranges = [name for name in free if name.endswith(("__MIN", "__MAX")) and name[:-5] in free]
    left_out = {**left_out, **dict.fromkeys(ranges, "the range of another column")}
    free = [name for name in free if name not in ranges]
    numeric = [name for name in free if profiles[name].numeric >= _MOSTLY]
    # A model of right and wrong answers whose failures are -1 or 99 is still a model.
    _ask_about_codes(table, profiles, [n for n in numeric if _is_coded(profiles[n])])
    _refuse_failed_marks(table, profiles, numeric)
    marks = [name for name in free if name not in numeric and _is_mark(profiles[name])]
    words = [name for name in free if name not in (*numeric, *marks)]
    measures = [name for name in numeric if set(tokens(name)) & MEASURES]
    if len(measures) < len(numeric):
        left_out = {**left_out, **dict.fromkeys(measures, "named like a measurement")}
        numeric = [name for name in numeric if name not in measures]
    unlike = unlike_models(profiles, [*numeric, *marks])
    left_out = {**left_out, **unlike}
    numeric, marks = ([name for name in some if name not in unlike] for some in (numeric, marks))
    models = (*numeric, *marks)
    one = len(words or free) == 1
    if not models or (words and len(words) >= len(models)):
        _refuse_odd_numbers(table, profiles, words)
        _refuse_failed_marks(table, profiles, words)
        if not words and not free:
            why = "; ".join(f"{name!r}: {reason}" for name, reason in table.left_out.items())
            raise InputError(
                f"{table.source}: no column holds scores of models{_seen(left_out)}"
                + (f". Not read: {why}" if why else "")
            )
        raise InputError(
            f"{table.source}: {listed(words or free)} {'holds' if one else 'hold'} words and not"
            " scores. If these are answers, name the true answers (--truth); else name the columns"
            " of the models (--models)" + _seen(left_out)
        )
    _check_scale(table, profiles, numeric)
    other = dict.fromkeys(words, "words, not scores")
    return models, {**left_out, **other}


def _is_mark(profile: Profile) -> bool:
    """Say whether a column says right and wrong in words; True and False are kept as 1 and 0."""
    answered = _answered(profile)
    return as_pass_fail(answered) is not None or (bool(answered) and set(answered) <= {0, 1})


_ODD_NUMBERS = {
    r"\s*-?\d+,\d+\s*": ("a decimal comma", "write them with a point"),
    r"\s*-?\d+(\.\d+)?\s*%\s*": ("a per cent sign", "write them without it"),
    r"\s*[$€£]\s*\d+(\.\d+)?\s*": ("a currency sign", "write them without it"),
    r"\s*\d+(\.\d+)?\s*(ms|s)\s*": ("a unit", "write them without it"),
}
"""How people write numbers that are read as words, what that is called, and the way out."""


def _refuse_odd_numbers(table: Table, profiles: Profiles, words: Sequence[str]) -> None:
    """Refuse numbers with a decimal comma, a sign or a unit by what is wrong with them."""
    for name in words:
        shown = [label for label in profiles[name].values if isinstance(label, str)]
        for pattern, (what, way_out) in _ODD_NUMBERS.items():
            odd = [label for label in shown if re.fullmatch(pattern, label)]
            if odd and 2 * len(odd) >= len(shown):
                raise InputError(
                    f"{table.source}: column {name!r} has numbers with {what}, such as"
                    f" {min(odd)!r}: {way_out}"
                )


def _refuse_failed_marks(table: Table, profiles: Profiles, words: Sequence[str]) -> None:
    """Ask about cells such as 'error' among words for right and wrong."""
    for name in words:
        asked = failed_marks(profiles[name].values)
        if asked is not None:
            raise InputError(f"{table.source}: {name!r} {asked}")


def _check_scale(table: Table, profiles: Profiles, numeric: Sequence[str]) -> None:
    spans = {
        name: max(abs(profiles[name].low or 0.0), abs(profiles[name].high or 0.0))
        for name in numeric
    }
    positive = {name: span for name, span in spans.items() if 0 < span < float("inf")}
    if not positive:
        return
    low, high = min(positive, key=positive.__getitem__), max(positive, key=positive.__getitem__)
    if positive[high] > _ONE_SCALE * positive[low]:
        _ask_about_codes(table, profiles, numeric)
        raise InputError(
            f"{table.source}: {low!r} reaches {positive[low]:g} and {high!r} {positive[high]:g}, so"
            " they are not scores of two models on one scale. Name the columns that are models"
            f" (--models a,b); columns such as {high!r} are metrics of one run, not models"
        )


def _is_coded(profile: Profile) -> bool:
    """Say whether a column holds 0, 1 and at most one other number."""
    return bool(profile.counts) and len(profile.values - {0, 1}) <= 1 and {0, 1} <= profile.values


def _ask_about_codes(table: Table, profiles: Profiles, numeric: Sequence[str]) -> None:
    """Ask about a code such as 999 that puts a column on another scale than the others."""
    cells = {
        name: np.repeat(
            np.array([float(value) for value in profiles[name].counts if value is not None]),
            list(profiles[name].counts.values()),
        )
        for name in numeric
        if profiles[name].counts and profiles[name].numeric == 1.0
    }
    for doubt in stray_codes(cells):
        raise InputError(
            f"{table.source}: {doubt.text()}; if it is a score, name the models and between what"
            f" scores lie (--models {','.join(numeric)} --bounds {min(doubt.low, doubt.code):g},"
            f"{max(doubt.high, doubt.code):g})"
        )


def _seen(left_out: Mapping[str, str]) -> str:
    shown = "; ".join(f"{name!r}: {reason}" for name, reason in list(left_out.items())[:6])
    return f". Left out so far: {shown}" if shown else ""


# Numbers that usually mean "no answer": 0 beside grades from 1 to 5, -1, 99, 999.
#
# Such a code is a number like any other to every method, and it moves a mean far more than an
# honest answer could. A number is doubted where it is one of the usual codes, lies at the end of
# its column, and stands apart from all other cells. Where it moves the mean of its column by more
# than chance would, the user is asked. Otherwise, and where the user has said between what scores
# lie, a warning names the column, the number of cells and the option.


Floats = NDArray[np.float64]

CODES = (0.0, -1.0, -9.0, -99.0, -999.0, -9999.0, 9.0, 99.0, 999.0, 9999.0)
"""Numbers that people write where there is no answer."""

_LOOKED = 50_000
"""Filled cells of a column that are looked at."""

_GLANCE = 200
"""Rows that show whether a column holds words."""

_MOST_COLUMNS = 200
_LEAST = 5
"""Other cells that a column needs for its code to stand apart from them."""

_OFTEN = 0.2
"""Share of a column from which a code that no other column uses is no rare grade."""

_FAR = 3
"""Steps between grades from which 0 lies apart from them, whatever other columns say."""

_MOVES = 2.0
"""Standard errors by which a code moves the mean of its column, for the user to be asked."""


@dataclass(frozen=True, kw_only=True)
class CodeDoubt:
    """A number of one column that may mean no answer.

    Parameters
    ----------
    column, code
        Where it stands, and what it is.
    cells, of
        How many cells hold it, of how many that are filled.
    low, high
        From where to where the other cells go.
    moves
        By how many standard errors of the others' mean the code moves the mean of its column.
    """

    column: str
    code: int
    cells: int
    of: int
    low: float
    high: float
    moves: float

    @property
    def is_grave(self) -> bool:
        """Whether the code moves the column's mean by more than chance would."""
        return self.moves > _MOVES

    def text(self) -> str:
        """Say what was seen, and the option that reads it as no answer."""
        times = "1 cell" if self.cells == 1 else f"{self.cells:,} of {self.of:,} cells"
        return (
            f"column {self.column!r} says {self.code} in {times}, and its other cells go from"
            f" {self.low:g} to {self.high:g}. If {self.code} means no answer, add"
            f" --missing={self.code}"
        )


def doubted_codes(data: Data) -> tuple[CodeDoubt, ...]:
    """Return the numbers of the answers and of the truth that may mean no answer.

    A code that every column uses next to its other grades is a grade. Labels say -1 by a rule of
    their own (`tallystick.table.agree`). Rows that another engine holds are not looked at.

    Examples
    --------
    >>> from tallystick.table import read
    >>> grades = {"m1": [6, 7, 8, 9, 10] * 4, "m2": [0, 8, 9, 7, 10] * 4}
    >>> [(one.column, one.code, one.cells) for one in doubted_codes(read(grades, models=("m1", "m2")))]
    [('m2', 0, 4)]
    """
    if data.in_engine or len(data.roles.systems) == 2:
        return ()
    columns = data.roles.columns(*VOTES, "truth")[:_MOST_COLUMNS]
    rows, missing = data.held, data.rules.missing
    if isinstance(rows, Tally):
        held = {name: _counted_numbers(rows, name, missing) for name in columns}
    else:
        plain = _without_words(rows, columns, missing)
        held = {name: _no_answer_codes_numbers(rows, name, missing) for name in plain}
    return stray_codes({name: values for name, values in held.items() if values is not None})


def stray_codes(columns: Mapping[str, Floats]) -> tuple[CodeDoubt, ...]:
    """Return the codes among columns of numbers that answer one question."""
    found = []
    ends = {name: {values.min(), values.max()} for name, values in columns.items() if values.size}
    for name in ends:
        values = columns[name]
        for code in sorted(ends[name] & set(CODES)):
            rest = values[values != code]
            others = [columns[other] for other in ends if other != name]
            often = rest.size <= (1 - _OFTEN) * values.size
            if rest.size >= _LEAST and _stands_apart(code, rest, others, often=often):
                found.append(_doubt(name, code, values, rest))
    return tuple(found)


def _stands_apart(code: float, rest: Floats, others: Sequence[Floats], *, often: bool) -> bool:
    """Say whether *code* is no neighbour of the other cells of its column.

    *often* says that it fills a large part of the column, as ``fillna(0)`` leaves it.
    """
    low, high = float(rest.min()), float(rest.max())
    distinct = np.unique(rest)
    if distinct.size < 2 or low <= code <= high:
        return False
    whole = bool((distinct == np.floor(distinct)).all())
    shared = any((other == code).any() for other in others)
    alone = bool(others) and not shared
    if code > 0:  # 9, 99, 999 above everything else, as far away as the others are wide
        return code - high >= max(2.0, high - low) and (whole or code > 9)
    if code < 0:
        if low < 0:
            return False
        # -1, 0 and 1 are three answers where every column gives them.
        return alone or not whole or low >= 1 or code < -1
    if whole and low >= 1 and often and alone and min(float(one.min()) for one in others) >= 1:
        return True  # grades that nobody gave: 0 in a large part of this column, and in no other
    if not whole or distinct.size < 3 or low < 1:
        return False  # 0 beside fractions is a score, and 0 beside 1 and 2 too
    step = float(np.diff(distinct).max())
    return low >= _FAR * step or alone


def _doubt(name: str, code: float, values: Floats, rest: Floats) -> CodeDoubt:
    spread = float(rest.std(ddof=1)) / np.sqrt(rest.size)
    shift = abs(float(values.mean()) - float(rest.mean()))
    return CodeDoubt(
        column=name,
        code=int(code),
        cells=int(values.size - rest.size),
        of=int(values.size),
        low=float(rest.min()),
        high=float(rest.max()),
        moves=shift / spread if spread else float("inf"),
    )


def _without_words(table: Table, columns: Sequence[str], missing: Sequence[str]) -> list[str]:
    """Leave out columns whose first cells are words: most tables of labels need no second look."""
    kinds = table.kinds
    usable = [name for name in columns if kinds.get(name, "other") in ("text", "integer", "float")]
    texts = [name for name in usable if kinds[name] == "text"]
    if not texts:
        return usable
    words = ", ".join(f"{_word(name, missing)} as c{k}" for k, name in enumerate(texts))
    seen = table.arrow(f"select {words} from (select * from rows limit {_GLANCE})")
    spoken = {
        name
        for k, name in enumerate(texts)
        if not _are_silent(word for word in seen[f"c{k}"].to_pylist() if word is not None)
    }
    return [name for name in usable if name not in spoken]


def _word(column: str, missing: Sequence[str]) -> str:
    """Return the SQL of a text that is no number; NULL for a number and for no answer."""
    cell = f"({without_missing(column, 'text', missing)})"
    return f"case when {as_number(cell, 'text')} is null then {cell} end"


def _no_answer_codes_numbers(table: Table, column: str, missing: Sequence[str]) -> Floats | None:
    """Return the numbers of a column, None if it holds anything else but words for no answer."""
    kind = table.kinds[column]
    cell = without_missing(column, kind, missing)
    some = f"(select {cell} as cell from rows where {identifier(column)} is not null)"
    filled = f"(select cell from {some} where cell is not null limit {_LOOKED})"
    number = as_number("cell", kind)
    word = f"case when {number} is null then cell end" if kind == "text" else "null::varchar"
    found = table.arrow(f"select {number} as number, {word} as word from {filled}")
    if not _are_silent(found["word"].unique().drop_null().to_pylist()):
        return None
    values = np.asarray(as_numpy(found["number"].drop_null()), dtype=np.float64)
    return values[np.isfinite(values)]


def _counted_numbers(tally: Tally, column: str, missing: Sequence[str]) -> Floats | None:
    """Return the same of counts."""
    labels, tokens = tally.labels[column], frozenset(missing)
    if any(isinstance(label, bool) for label in labels):
        return None
    numbers = np.full(len(labels), np.nan)
    for place, label in enumerate(labels):
        if is_missing(label, tokens):
            continue
        number = spelling(label)
        if isinstance(number, int | float):
            numbers[place] = float(number)
        elif not _are_silent((str(label),)):
            return None
    own = tally.marginal([column])
    codes, counts = own.codes, np.asarray(own.counts).astype(np.int64)
    known = np.isfinite(numbers[codes[:, 0]])
    return numbers[cells_of(codes[known], counts[known], _LOOKED)[:, 0]]


def _are_silent(words: Iterable[str]) -> bool:
    return all(is_no_answer(word) or spelling(word) == "(unread)" for word in words)


# The column of true answers, found by its whole name: models beside it hold answers, not scores.
#
# Predictions of 0 and 1 look like scores. Their means say nothing about who is right, and the model
# that says 1 most often would be the best.


Said = Mapping[str, Counter[Label]]
"""How often each column says each label."""


def named_truth(
    table: Table, roles: Roles, models: Sequence[str] = (), missing: Sequence[str] = ()
) -> str | None:
    """Return the column that is named like the truth, if models beside it use its labels.

    None if no column has such a name, if the models say right and wrong (``gpt_correct``), and if
    the truth is free text beside scores from 0 to 1. Where labels do not fit, `AskError` asks.

    Parameters
    ----------
    table, roles
        What was read, and the roles known so far.
    models
        The columns of the models; empty if they have to be found.
    missing
        Tokens for no answer.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> columns = {"a": [0, 1, 1] * 9, "b": [1, 1, 1] * 9}
    >>> named_truth(scan(pa.table({**columns, "y_test": [0, 1, 0] * 9})), Roles())
    'y_test'
    >>> named_truth(scan(pa.table(columns)), Roles()) is None
    True
    """
    held = {*roles.holders(), *table.left_out}
    likely = [name for name in table.columns if is_truth(name) and name not in held]
    if not likely:
        return None
    sample = draw(table, missing=missing)
    profiles = look(sample)
    found = {}
    for truth in likely:
        beside = (
            models or roles.models or free_columns(table, profiles, replace(roles, truth=truth))[0]
        )
        found[truth] = {name: _said(sample, name) for name in beside if name not in likely}
    # References in free text are what scores from 0 to 1 were worked out with.
    likely = [
        truth
        for truth in likely
        if profiles[truth].nature != "text"
        or not all(_is_score(profiles[name]) for name in found[truth])
    ]
    return _chosen(table.source, {name: _said(sample, name) for name in likely}, found)


def named_truth_of_counts(
    tally: Tally, roles: Roles, source: str, ignored: Sequence[str] = ()
) -> str | None:
    """Return the same for a table that is counted already."""
    held = {*roles.holders(), *ignored}
    free = [name for name in tally.names if name not in held]
    likely = [name for name in free if is_truth(name)]
    beside = roles.models or [name for name in free if name not in likely]
    said = {name: _counted(tally, name) for name in (*likely, *beside)}
    voters = {name: said[name] for name in beside}
    return _chosen(source, {name: said[name] for name in likely}, dict.fromkeys(likely, voters))


def _chosen(source: str, truths: Said, voters: Mapping[str, Said]) -> str | None:
    """Return the one truth that fits its models; ask where none does, or several do."""
    answers = {
        truth: {name: said for name, said in voters[truth].items() if not is_mark(name)}
        for truth in truths
    }
    likely = [truth for truth in truths if answers[truth]]
    fitting = [truth for truth in likely if _fits(truths[truth], answers[truth])]
    if len(fitting) == 1 or not likely:
        return fitting[0] if fitting else None
    if fitting:
        raise AskError(
            f"{source}: which column holds the true answers? {listed(fitting)} are named like it.",
            role="truth",
            candidates=tuple(fitting),
            calls=tuple(f"--truth {quote(name)}" for name in fitting),
        )
    raise _question(source, likely[0], truths[likely[0]], answers[likely[0]])


def _fits(true: Counter[Label], answers: Said) -> bool:
    """Say whether a model mostly uses the labels of the truth.

    0 and 1 beside a truth of more labels may be right and wrong, and not two of these labels.
    """
    spoken = {spelling(label) for said in answers.values() for label in said}
    marks = spoken <= {0, 1} or as_pass_fail(spoken) is not None
    if len(true) < 2 or (marks and not {spelling(label) for label in true} <= spoken):
        return False
    return any(_shares(said, true) for said in answers.values())


def _shares(said: Counter[Label], true: Counter[Label]) -> bool:
    """Say whether most of what a column says are labels of the truth."""
    known = {spelling(label) for label in true}
    inside = sum(n for label, n in said.items() if spelling(label) in known)
    return inside >= _MOSTLY * said.total() > 0


def _question(source: str, truth: str, true: Counter[Label], answers: Said) -> AskError:
    """Ask whether models beside a truth hold answers or scores."""
    said = sum(answers.values(), Counter[Label]())
    scores = f"--ignore {quote(truth)}"
    shares = any(_shares(one, true) for one in answers.values())
    way = "" if shares else " If they are answers, write them with the labels of the truth."
    right = f"--truth {quote(truth)} --models {quote(','.join(answers))}"
    return AskError(
        f"{source}: are {listed(list(answers))} answers or scores? They say"
        f" {_named_truth_some(said)}, and {truth!r}, which is named like the truth, says"
        f" {_named_truth_some(true)}.{way}",
        role="truth",
        candidates=(truth,),
        calls=(right, scores) if shares else (scores,),
    )


def _named_truth_some(said: Counter[Label]) -> str:
    shown = sorted(map(str, said))
    return ", ".join(shown[:4]) + (", …" if len(shown) > 4 else "")


def _said(sample: Sample, name: str) -> Counter[Label]:
    return _answers(Counter(sample.column(name).drop_null().to_pylist()))


def _counted(tally: Tally, name: str) -> Counter[Label]:
    one = tally.marginal([name])
    labels = one.labels[name]
    counts = zip(one.codes[:, 0].tolist(), one.counts.tolist(), strict=True)
    return _answers({labels[code]: n for code, n in counts})


def _answers(counts: Mapping[Label, int]) -> Counter[Label]:
    """Return counts without those of no answer."""
    silent = [label for label in counts if is_missing(label) or is_no_answer(label)]
    return Counter({label: n for label, n in counts.items() if label not in silent})


def _is_score(profile: Profile) -> bool:
    """Say whether a column holds numbers from 0 to 1, or words for right and wrong."""
    within = profile.low is not None and profile.high is not None
    share = within and (profile.low or 0.0) >= 0 and (profile.high or 0.0) <= 1
    return share or (bool(profile.values) and as_pass_fail(profile.values) is not None)
