"""Reasons to ask: columns that look like votes and could be something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from tallystick.errors import AskError
from tallystick.table.cells import NUMBER, Label, spelling
from tallystick.table.detect_names import (
    CONSENSUS,
    MEASURES,
    ROUNDS,
    SLICES,
    SPLITS,
    TEXTS,
    WEAK_TRUTHS,
    are_voters,
    count_question,
    family,
    is_count,
    is_feature,
    is_identifier,
    is_item,
    is_truth,
    is_weight,
    plain,
    tokens,
)
from tallystick.table.detect_sample import Sample, beyond_chance, is_unique, kappas, plurality
from tallystick.table.engine import as_numpy
from tallystick.table.roles import Layout, Roles
from tallystick.table.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

# What is in a column: blanks, distinct values, numbers, and how often each value occurs.


Nature: TypeAlias = Literal["empty", "constant", "labels", "numbers", "text"]

MOST_VALUES = 64
"""A column with more distinct values than this is not taken for labels without being asked for."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One column.

    Parameters
    ----------
    name
        The column.
    rows, filled
        Rows of the table, and those in which it is not blank.
    seen, distinct
        Filled cells that were looked at, and how many different values they hold.
    nature
        ``empty``, ``constant``, ``labels`` (few values that repeat), ``numbers`` (many, or with
        fractions) or ``text``.
    low, high
        The range, if every value is a number.
    numeric
        Share of the different values that are numbers: a column of scores with one misspelt cell
        is still a column of scores.
    counts
        How often each value occurs, spelled canonically; empty where there are too many, or
        fractions.
    """

    name: str
    rows: int
    filled: int
    seen: int
    distinct: int
    nature: Nature
    low: float | None = None
    high: float | None = None
    numeric: float = 0.0
    counts: Mapping[Label, int]

    @property
    def values(self) -> frozenset[Label]:
        """The different values, spelled canonically."""
        return frozenset(self.counts)

    @property
    def blank(self) -> float:
        """Share of rows in which it is blank."""
        return 1 - self.filled / self.rows if self.rows else 0.0

    @property
    def repeats(self) -> bool:
        """Whether values come twice on average, at least."""
        return 2 * self.distinct <= self.seen


def look(sample: Sample) -> dict[str, Profile]:
    """Look at every column of a sample.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table.detect_sample import draw
    >>> from tallystick.table import scan
    >>> table = scan(pa.table({"id": ["a", "b", "c"], "vote": ["yes", "no", "yes"], "p": [0.1, 0.2, 0.9]}))
    >>> {name: profile.nature for name, profile in look(draw(table)).items()}
    {'id': 'text', 'vote': 'labels', 'p': 'numbers'}
    """
    return {name: _profile(name, sample) for name in sample.cells.column_names}


def _profile(name: str, sample: Sample) -> Profile:
    encoded = sample.column(name).drop_null().combine_chunks().dictionary_encode()
    words = encoded.dictionary.to_pylist()
    seen = len(encoded)
    often = (
        np.bincount(np.from_dlpack(encoded.indices), minlength=len(words)).tolist() if seen else []
    )
    numeric, numbers = _numbers(encoded.dictionary)
    finite = numbers is not None and bool(np.isfinite(numbers).all())
    whole = numbers is not None and bool((np.floor(numbers) == numbers)[np.isfinite(numbers)].all())
    counts: dict[Label, int] = {}
    if len(words) <= MOST_VALUES and (numbers is None or (whole and finite)):
        for word, count in zip(words, often, strict=True):
            counts[spelling(word)] = counts.get(spelling(word), 0) + count
    nature: Nature
    if not words:
        nature = "empty"
    elif len(words) == 1:
        nature = "constant"
    elif counts and (len(counts) == 2 or 2 * len(counts) <= seen):
        nature = "labels"
    else:
        nature = "text" if numbers is None else "numbers"
    return Profile(
        name=name,
        rows=sample.rows,
        filled=sample.filled[name],
        seen=seen,
        distinct=len(words),
        nature=nature,
        low=None if numbers is None or not len(numbers) else float(numbers.min()),
        high=None if numbers is None or not len(numbers) else float(numbers.max()),
        numeric=numeric,
        counts=counts,
    )


def _numbers(words: pa.Array) -> tuple[float, NDArray[np.float64] | None]:
    """Return the share of values that are numbers, and the numbers if all of them are."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(words):
        return 0.0, np.zeros(0)
    if not pa.types.is_string(words.type) and not pa.types.is_large_string(words.type):
        return 1.0, np.array([float(word) for word in words.to_pylist()])

    # A column of names has as many values as rows: they are looked at where they lie.
    trimmed = pc.utf8_trim_whitespace(words)
    share = float(np.mean(as_numpy(pc.match_substring_regex(trimmed, f"^(?:{NUMBER.pattern})$"))))
    if share < 1.0:
        return share, None
    try:
        return share, as_numpy(trimmed.cast(pa.float64()))
    except pa.ArrowInvalid:  # +1 and 1e999, which Python reads
        return share, np.array([float(word) for word in trimmed.to_pylist()])


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
            as_option("judges", votes),
            as_option("models", votes),
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
            as_option("judges", votes),
            f"{as_option('models', votes)} {as_option('ignore', [truth])}",
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
            as_option("ignore", strange),
            as_option("judges", votes),
        )
    elif loose:
        book.ask(
            "--judges",
            f"{listed(loose)} hold {listed(sorted(map(str, labels)))} as {truth!r} does, but so do"
            " many facts: name the judges or models (--judges …), or leave out columns that"
            f" are not answers (--ignore {loose[0]})",
            as_option("ignore", loose),
            as_option("judges", votes),
        )
    elif copies:
        book.ask(
            "--judges",
            f"column {copies[0]!r} may be the truth once more, or have been made from it: name the"
            f" judges or models (--judges …), or leave it out (--ignore {copies[0]})",
            as_option("ignore", copies),
            as_option("judges", votes),
        )
    elif len(others) > len(votes) and not are_voters(votes):
        book.ask(
            "--judges",
            f"{listed(votes)} hold the labels of {truth!r}, but most columns ({listed(others)}) do"
            " not, so this may be a table of facts: name the judges or models",
            as_option("judges", votes),
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
            as_option("models", votes),
            as_option("judges", votes),
        )
    elif labels in _ANYTHING and not are_voters(votes):
        book.ask(
            "--judges",
            f"{listed(votes)} hold {listed(sorted(map(str, labels)))}, as facts of every sort do:"
            " name the judges or models (--judges), and the true labels if there are any"
            " (--truth)",
            as_option("judges", votes),
        )
    elif all(isinstance(label, int | float) for label in labels) and len(labels) > 2 and not judges:
        book.ask(
            "--judges or --models",
            f"{listed(votes)} hold the numbers {listed(sorted(map(str, labels)))}: name them as"
            " --judges if these are labels, or as --models if they are scores",
            as_option("judges", votes),
            as_option("models", votes),
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
            as_option("judges", votes),
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
                as_option("truth", [name]),
                as_option("judges", votes),
            )
            return


# Columns that say what a row is, not what anyone answered: items, slices, rounds, weights, text,
# measurements.


def find_structure(
    table: Table, profiles: Profiles, named: Roles, layout: Layout, book: Notebook
) -> dict[str, str]:
    """Take what is no answer out of the free columns; return the roles found, role to column."""
    found: dict[str, str] = {}
    book.take(
        [name for name in book.free if profiles[name].nature == "empty"],
        "not used",
        "every cell is blank",
    )
    slices = _slices(profiles, book)
    found |= _round(profiles, named, book)
    found |= _weight(profiles, named, book)
    found |= _cluster(profiles, named, book)
    found |= _item(table, profiles, named, layout, book, slices)
    book.take(
        [name for name in book.free if is_identifier(name)], "not used", "named like an identifier"
    )
    measures = [
        name
        for name in book.free
        if set(tokens(name)) & MEASURES and profiles[name].low is not None
    ]  # the numbers of a vote could never be told from 0/1 costs, so only names that say so count
    book.take(measures, "not used", "named like a measurement")
    texts = [name for name in book.free if profiles[name].nature == "text" and not is_truth(name)]
    book.take(
        [name for name in texts if plain(name) in TEXTS or not profiles[name].repeats],
        "text",
        "free text that hardly repeats",
    )
    return found


def _slices(profiles: Profiles, book: Notebook) -> dict[str, list[str]]:
    """Take columns that group the items: splits of one data set, and slices of another sort."""
    found: dict[str, list[str]] = {"split": [], "slice": []}
    for name in book.free:
        profile = profiles[name]
        if not profile.repeats or profile.nature == "numbers":
            continue
        if plain(name) in SPLITS:
            found["split"].append(name)
        elif plain(name) in SLICES - {"cluster"}:
            found["slice"].append(name)
    for names in found.values():
        for name in names:
            book.take(
                [name], "slice", f"its name, and values that repeat ({profiles[name].distinct:,})"
            )
    return found


def _round(profiles: Profiles, named: Roles, book: Notebook) -> dict[str, str]:
    if named.round is not None:
        return {}
    for name in [name for name in book.free if plain(name) in ROUNDS]:
        profile = profiles[name]
        numbers = sorted(value for value in profile.values if isinstance(value, int) and value >= 0)
        first, last = (numbers[0], numbers[-1]) if numbers else (0, 0)
        contiguous = len(numbers) == len(profile.values) == last - first + 1
        if profile.nature == "labels" and contiguous and not profile.blank:
            book.take(
                [name], "round", f"its name, and whole numbers {first} to {last} in every row"
            )
            return {"round": name}
        book.take(
            [name],
            "not used",
            "named like a round, but does not hold the numbers of two or more rounds",
        )
    return {}


def _weight(profiles: Profiles, named: Roles, book: Notebook) -> dict[str, str]:
    if named.weight is not None or named.count is not None:
        return {}
    for name in list(book.free):
        profile = profiles[name]
        if is_count(name) and (profile.high or 0) > 1:
            book.ask("--count", count_question(name))
            book.take([name], "not used", "it could count the rows, or weigh them")
        if profile.low is None or profile.low < 0:
            continue
        if is_weight(name):
            book.take([name], "weight", "its name, and numbers from 0 on")
            return {"weight": name}
        if plain(name) in ("weight", "weights"):
            book.ask(
                "--weight",
                f"does column {name!r} weigh the rows (--weight {name}) or is it a mere fact"
                f" (--ignore {name})?",
                as_option("weight", [name]),
                as_option("ignore", [name]),
            )
            book.take([name], "not used", "it could weigh the rows, or be a fact about the item")
    return {}


def _cluster(profiles: Profiles, named: Roles, book: Notebook) -> dict[str, str]:
    if named.cluster is not None:
        return {}
    for name in book.free:
        profile = profiles[name]
        if plain(name) in ("cluster", "cluster_id") and not profile.blank and profile.repeats:
            book.take([name], "cluster", f"its name, and values that repeat ({profile.distinct:,})")
            return {"cluster": name}
    return {}


def _item(
    table: Table,
    profiles: Profiles,
    named: Roles,
    layout: Layout,
    book: Notebook,
    slices: Mapping[str, list[str]],
) -> dict[str, str]:
    """Take the column of item names: all different, or different within the parts of one data
    set.
    """
    if named.item is not None:
        if not is_unique(table, [named.item]) and not layout.rows_are_items:
            book.ask(
                "--item",
                f"column {named.item!r} repeats: average its rows first, name another column, or"
                " say that every row is an item of its own (--rows-are-items)",
            )
        return {}
    usual = [name for name in book.free if is_item(name)]
    whole = [name for name in usual if profiles[name].filled == profiles[name].rows]
    unique = [name for name in whole if _may_be_unique(profiles[name]) and is_unique(table, [name])]
    if unique:
        book.take(unique[:1], "item", "its name, and a different value in every row")
        book.take(
            [name for name in usual if name != unique[0]],
            "not used",
            "named like an item, beside another one",
        )
        return {"item": unique[0]}
    for name in whole:
        for split in slices["split"]:
            if is_unique(table, [split, name]):
                book.take(
                    [name],
                    "not used",
                    f"it names the item within each {split!r}, so every row is an item",
                )
                return {}
    if whole and not layout.rows_are_items and table.shape == "wide":
        groups = [column for columns in slices.values() for column in columns]
        apart = bool(groups) and is_unique(table, [*groups, whole[0]])
        several = (
            f"and is different only within {listed(groups)}: the file holds several tables in one"
            if apart
            else ""
        )
        book.ask(
            "--item",
            f"column {whole[0]!r} is named like an item but repeats {several or 'itself'}; give one"
            " table at a time, name the item (--item C), or say that every row is an item of its"
            " own (--rows-are-items)",
        )
    book.take(usual, "not used", "named like an item, but it repeats or has blanks")
    return {}


def _may_be_unique(profile: Profile) -> bool:
    """Whether all cells that were looked at differ, so that it is worth looking at all."""
    return profile.distinct == profile.seen


# What the columns were taken for, why, and what has to be asked.


ColumnUse: TypeAlias = Literal[
    "item",
    "truth",
    "votes",
    "scores",
    "weak labels",
    "prediction",
    "score",
    "old",
    "new",
    "confidence",
    "round",
    "validators",
    "count",
    "weight",
    "cluster",
    "slice",
    "text",
    "not used",
]


@dataclass(frozen=True)
class Taken:
    """Some columns, what they are taken for, and why.

    >>> print(Taken(("gold",), "truth", "its name says so"))
    'gold' is taken for the truth: its name says so
    """

    columns: tuple[str, ...]
    role: ColumnUse
    why: str

    def __str__(self) -> str:
        many = len(self.columns) > 1
        if self.role == "not used":
            return f"{listed(self.columns)} {'are' if many else 'is'} not used: {self.why}"
        plural = many or self.role in ("votes", "scores", "weak labels", "validators", "text")
        article = "" if plural else "a " if self.role == "slice" else "the "
        answers = " answers" if self.role in ("old", "new") else ""
        return (
            f"{listed(self.columns)} {'are' if many else 'is'} taken for"
            f" {article}{self.role}{answers}: {self.why}"
        )


@dataclass(frozen=True)
class OpenQuestion:
    """What cannot be told from the table, the option that answers it, and two likely answers."""

    option: str
    text: str
    calls: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.option}: {self.text}"


@dataclass(frozen=True, kw_only=True)
class Detection:
    """What the columns of a table were taken for.

    Parameters
    ----------
    roles
        The roles: what the caller named, and what was found.
    slices
        Columns that split the items into groups.
    missing
        Tokens that mean no answer.
    taken
        What was taken for what, and why.
    questions
        What has to be answered before anything is run.
    notes
        What the reader should know.
    """

    roles: Roles
    slices: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    taken: tuple[Taken, ...] = ()
    questions: tuple[OpenQuestion, ...] = ()
    notes: tuple[str, ...] = ()

    def ask(self, source: str) -> None:
        """Refuse by the first question, if there is one; the message names the option that
        answers it.
        """
        if self.questions:
            seen = "; ".join(str(part) for part in self.taken if part.role != "not used")
            raise AskError(
                f"{source}: {'; '.join(map(str, self.questions))}"
                + (f" (so far: {seen})" if seen else ""),
                role=self.questions[0].option.removeprefix("--"),
                # An answer to one of several questions alone would not run.
                calls=self.questions[0].calls if len(self.questions) == 1 else (),
            )


@dataclass
class Notebook:
    """What has been found so far; only `detect` and its steps write into it."""

    free: list[str]
    taken: list[Taken] = field(default_factory=list)
    questions: list[OpenQuestion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def take(self, columns: Sequence[str], role: ColumnUse, why: str) -> None:
        """Note what *columns* are; they are no longer free."""
        if columns:
            self.taken.append(Taken(tuple(columns), role, why))
            self.free = [name for name in self.free if name not in columns]

    def ask(self, option: str, text: str, *calls: str) -> None:
        """Note a question."""
        self.questions.append(OpenQuestion(option, text, calls))


def as_option(role: str, names: Sequence[str]) -> str:
    """Return names as the command line takes them.

    >>> as_option("judges", ["gpt", "my judge"])
    "--judges 'gpt,my judge'"
    """
    return f"--{role} {quote(','.join(names))}"


def listed(names: Sequence[object], most: int = 4) -> str:
    """Return *names* quoted, the first few of many.

    >>> listed(["a", "b"]), listed(range(9))
    ("'a', 'b'", '0, 1, 2, … 9 in all')
    """
    shown = ", ".join(map(repr, names[: most if len(names) <= most else most - 1]))
    return shown if len(names) <= most else f"{shown}, … {len(names)} in all"
