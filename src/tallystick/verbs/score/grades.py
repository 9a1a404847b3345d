"""What a grade is worth: words for pass and fail, 0 and 1, or numbers on a scale, as [0, 1]."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from shlex import quote

from tallystick.errors import InputError
from tallystick.results import (
    Interval,
    number_interval,
    percent,
    percent_interval,
    points,
    points_interval,
    shown_difference,
)
from tallystick.table import (
    NUMBER,
    PASS_FAIL,
    Data,
    Label,
    Table,
    Tally,
    as_number,
    as_pass_fail,
    identifier,
    is_no_answer,
    without_missing,
)
from tallystick.table.reading_names import lower_word, parts
from tallystick.table.words import as_word

Scale = tuple[float, float]


@dataclass(frozen=True)
class Column:
    """The grades of one column: a number in [0, 1] per label, NaN for no grade.

    *pass_fail* says that every grade is 0 or 1 and means fail or pass.
    """

    values: Mapping[Label, float]
    pass_fail: bool


def read_column(
    name: str,
    labels: Sequence[Label],
    scale: Scale | None,
    place: Callable[[Label], str],
    *,
    human: bool = False,
    worth: Mapping[str, float] | None = None,
) -> Column:
    """Return what every label of a column is worth, or ask.

    Parameters
    ----------
    name
        The column.
    labels
        Its distinct cells.
    scale
        Least and greatest number; None for pass/fail.
    place
        Where a cell first stands, for messages.
    human
        Whether these are human grades. 0 and 1 then mean fail and pass even beside a scale to which
        they do not belong.
    worth
        What words of the user's own stand for (`word_worth`): 0 and 1, or numbers on the scale.

    Examples
    --------
    >>> read_column("gpt", ["pass", "fail", "NA", "(unread)"], None, str).values
    {'pass': 1.0, 'fail': 0.0, 'NA': nan, '(unread)': nan}
    >>> read_column("gpt", [1, 3, 5], (1, 5), str).values
    {1: 0.0, 3: 0.5, 5: 1.0}
    >>> own = {"unsafe": 0.0, "safe": 1.0}
    >>> read_column("gpt", ["Safe", "unsafe"], None, str, worth=own).values
    {'Safe': 1.0, 'unsafe': 0.0}
    >>> read_column("human", ["pass", "passs", "fail"], None, lambda label: "row 217 of outputs.csv")
    Traceback (most recent call last):
    tallystick.errors.InputError: row 217 of outputs.csv, column human: 'passs' is not a grade. ...
    """
    # What `ask` could not read as a grade is no grade.
    silent = [one for one in labels if one is None or one == "(unread)" or is_no_answer(one)]
    none = {label: float("nan") for label in silent}
    said = [label for label in labels if label not in none]
    marks = as_pass_fail(said) if said else None
    if marks is not None:
        return Column({**marks, **none}, set(marks.values()) <= {0.0, 1.0})

    own = worth or {}
    numbers = {label: own.get(as_word(label) or "", number_of(label)) for label in said}
    odd = [label for label, value in numbers.items() if value is None]
    if odd:
        raise InputError(_misfit(name, said, odd, numbers, place))
    held = {label: value for label, value in numbers.items() if value is not None}
    if set(held.values()) <= {0.0, 1.0}:
        return _zero_one(name, held, none, scale, human)
    if scale is None:
        first = next(label for label, value in held.items() if value not in (0.0, 1.0))
        low, high = min(held.values()), max(held.values())
        raise InputError(
            f"{place(first)}, column {name}: {first!r} is neither pass/fail nor 0/1. If grades are"
            f" numbers, say from where to where they can go (--scale LO,HI); this column goes from"
            f" {low:g} to {high:g}"
        )
    low, high = scale
    for label, value in held.items():
        if not low <= value <= high:
            raise InputError(
                f"{place(label)}, column {name}: {label!r} is outside the scale {low:g} to"
                f" {high:g}. If it means no grade, add --missing={str(label).strip()}. Otherwise"
                " correct the cell, widen the scale (--scale), or name that of the judges if it is"
                " another (--judge-scale)"
            )
    shares = {label: (value - low) / (high - low) for label, value in held.items()}
    return Column({**shares, **none}, False)


def _zero_one(
    name: str,
    held: Mapping[Label, float],
    none: Mapping[Label, float],
    scale: Scale | None,
    human: bool,
) -> Column:
    """Read a column that holds nothing but 0 and 1."""
    if scale is None or scale == (0.0, 1.0):
        return Column({**held, **none}, True)
    low, high = scale
    if low <= 0 and set(held.values()) != {0.0, 1.0}:  # a few grades at the end of the scale
        pass
    elif human and (low > 0 or high < 1):
        return Column({**held, **none}, True)
    elif set(held.values()) == {0.0, 1.0} and human:
        raise InputError(
            f"column {name} holds 0 and 1 only, and the scale goes from {low:g} to {high:g}: write"
            " pass and fail if that is meant, or leave out --scale"
        )
    outside = [value for value in held.values() if not low <= value <= high]
    if outside:
        raise InputError(
            f"column {name}: {outside[0]:g} is outside the scale {low:g} to {high:g}. If it means"
            f" no grade, add --missing={outside[0]:g}. Otherwise correct the cells, or widen the"
            " scale (--scale)"
        )
    return Column({**{k: (v - low) / (high - low) for k, v in held.items()}, **none}, False)


def number_of(label: Label) -> float | None:
    """Return a cell as a number, None if it is not one."""
    if isinstance(label, bool):
        return float(label)
    if isinstance(label, int | float):
        return float(label) if abs(label) < float("inf") else None
    text = str(label).strip()
    return float(text) if NUMBER.fullmatch(text) else None


_MOST_WORDS = 7
"""Different words up to which they may be the steps of a scale."""


def _own_words(said: Sequence[Label]) -> str:
    """Return the way to say what words are worth, with the words of this column."""
    words = [str(label).strip() for label in said]
    if not 2 <= len(words) <= _MOST_WORDS or any("," in word for word in words):
        return ""
    listed = quote(",".join(words))
    order = "or the other way round" if len(words) == 2 else "in the right order"
    return f" List the grades with the worst first (--labels {listed}, {order})."


def _misfit(
    name: str,
    said: Sequence[Label],
    odd: Sequence[Label],
    numbers: Mapping[Label, float | None],
    place: Callable[[Label], str],
) -> str:
    """Say which cell is not a grade, by the family of words (or numbers) that most cells fit."""
    families = [set(family) for family in PASS_FAIL]
    fits = [sum(as_word(label) in family for label in said) for family in families]
    best = max(range(len(families)), key=fits.__getitem__)
    # A letter alone, such as C, fits its family but may name a choice: no cell is odd then.
    if len(said) - len(odd) < fits[best] < len(said):
        known = [str(label) for label in said if as_word(label) in families[best]]
        wrong = next(label for label in said if as_word(label) not in families[best])
        meant = get_close_matches(str(wrong), sorted(families[best]), n=1)
        grades = " and ".join(sorted(known, key=lambda word: str(as_word(word)), reverse=True))
    else:
        wrong, meant = odd[0], []
        grades = "numbers" if len(odd) < len(numbers) else "pass and fail, 0 and 1, or numbers"
    hint = f" Did you mean {meant[0]}?" if meant else ""
    if len(odd) == len(said) and not meant:
        # No cell is a grade: reading one of them as no grade would only lead to the next.
        own = _own_words(said)
        return (
            f"{place(wrong)}, column {name}: {wrong!r} is not a grade that is known here."
            f"{own} {'Or write' if own else 'Write'} pass and fail, 0 and 1, or numbers, or name"
            " the columns that hold grades (--judges, --truth)"
        )
    way_out = f" Correct the cell, or add --missing {quote(str(wrong).strip())} to read it as no"
    if "," in str(wrong):  # the option would take it for two tokens
        way_out = " Correct the cell, or leave it blank for no"
    return (
        f"{place(wrong)}, column {name}: {wrong!r} is not a grade. Grades here are {grades}.{hint}"
        f"{way_out} grade"
    )


# From where to where grades go, where the grades themselves show it.
#
# Grades from 1 to 5 are the commonest that people bring, and asking everybody for ``--scale 1,5``
# answers nothing. A scale is read off only where it is one of the usual ones and the judges reach
# both of its ends; otherwise the user is asked.


_LOWS = (0.0, 1.0)
_HIGHS = (3.0, 4.0, 5.0, 6.0, 7.0, 10.0, 100.0)

_MOST = 200
"""Different cells from which a column is no column of grades on a usual scale."""

_LOOKED = 1_000


def usual_scales(data: Data) -> tuple[Scale, Scale] | None:
    """Return the scales of the human grades and of the judges, where the grades show them.

    The judges' grades are whole numbers, run from 0 or 1 to a usual greatest grade, and every judge
    comes within one grade of the top. Human grades may be fractions (the mean of two readers). They
    are on the judges' scale where they reach its upper half, and on one of their own where they use
    it as a scale is used. Fractions between 0 and 1, and nothing else, are on the scale from 0 to
    1. Grades are None if they are pass/fail, or do not show a scale.

    Examples
    --------
    >>> from tallystick.table import read
    >>> def seen(gpt, human):
    ...     table = {"system": ["a", "b"] * 5, "gpt": gpt * 2, "human": human + [None] * 5}
    ...     return usual_scales(read(table, judges=("gpt",), truth="human", system="system"))
    >>> seen([1, 2, 3, 4, 5], [4.5, None, None, None, None])
    ((1.0, 5.0), (1.0, 5.0))
    >>> seen([1, 4, 6, 8, 10], [1, 2, 3, 4, 5])
    ((1.0, 5.0), (1.0, 10.0))
    >>> seen([2, 2, 3, 4, 5], [4, 5, 3, 2, 4]) is None  # perhaps from 1 to 5, perhaps from 0
    True
    """
    truth = data.roles.truth
    cells = spoken_cells(data, data.roles.columns("judges", "truth"))
    if _are_shares(data):
        return _beside_shares(data, cells.get(truth or "", ()))
    spoken = {name: _numbers(labels) for name, labels in cells.items() if not _is_vote(labels)}
    judged = {name: values for name, values in spoken.items() if name != truth}
    if not judged or any(values is None for values in spoken.values()):
        return None
    judges = _usual([value for values in judged.values() for value in values or ()])
    # A judge who stops far below the top may use another scale than the others.
    if judges is None or any(max(values or [0.0]) < judges[1] - 1 for values in judged.values()):
        return None
    human = spoken.get(truth) if truth is not None else None
    if not human:
        return judges, judges
    low, high = judges
    if low <= min(human) and (low + high) / 2 < max(human) <= high:
        return judges, judges
    own = _usual(human)
    if own is not None and _is_used(human, own):
        return own, judges
    # Fewer than three different grades that stop early are a few grades, not a scale.
    return (judges, judges) if low <= min(human) and max(human) <= high and _few(human) else None


def _are_shares(data: Data) -> bool:
    """Say whether all judges give numbers between 0 and 1, some of them fractions over a half."""
    found = [_range(data, name) for name in data.roles.judges]
    if not found or any(one is None for one in found):
        return False
    return any(parts and high > 0.5 for one in found if one is not None for _, high, parts in [one])


def _beside_shares(data: Data, human: Sequence[Label]) -> tuple[Scale, Scale] | None:
    """Return the scale of human grades beside judges who go from 0 to 1."""
    unit = (0.0, 1.0)
    truth = data.roles.truth
    if truth is None or _is_vote(human) or _range(data, truth) is not None:
        return unit, unit
    values = _numbers(human)
    own = _usual(values) if values else None
    return (own, unit) if own is not None and values and _is_used(values, own) else None


def _range(data: Data, name: str) -> tuple[float, float, bool] | None:
    """Return least and greatest number of a column and whether it has fractions.

    None if it holds anything but numbers between 0 and 1. The first rows rule out most columns.
    """
    if not isinstance(data.held, Table):
        return None
    kind = data.held.kinds.get(name, "other")
    if kind not in ("text", "integer", "float"):
        return None
    cell = without_missing(name, kind, data.rules.missing)
    number = as_number("cell", kind)
    ends = (0.0, 0.0, False)
    for rows in (f"(select * from rows limit {_LOOKED})", "rows"):
        [(cells, numbers, low, high, parts)] = data.held.query(
            "select count(cell), count(x), min(x), max(x), count(*) filter (x <> floor(x)) from"
            f" (select cell, {number} as x from (select {cell} as cell from {rows}))"
        )
        if cells > numbers or (numbers and not 0 <= low <= high <= 1):
            return None
        ends = (float(low or 0.0), float(high or 0.0), bool(parts))
        if not parts and name in data.roles.judges:
            return ends  # 0 and 1 in the first rows: every row need not be looked at
    return ends


def _usual(grades: Sequence[float]) -> Scale | None:
    """Return the usual scale whose ends these grades reach, if they are whole numbers."""
    low, high = min(grades), max(grades)
    whole = all(value.is_integer() for value in grades)
    return (low, high) if whole and low in _LOWS and high in _HIGHS else None


def _is_used(grades: Sequence[float], scale: Scale) -> bool:
    """Say whether most grades of a scale are given, so that no slip of the pen makes its end."""
    steps = min(scale[1] - scale[0] + 1, 20.0)
    return len(set(grades)) >= 0.6 * steps


def _few(grades: Sequence[float]) -> bool:
    return len(set(grades)) < 3


def scale_note(human: Scale, judges: Scale) -> str:
    """Say what was read off, and how to say otherwise."""
    (low, high), (least, most) = human, judges
    if human != judges:
        return (
            f"human grades go from {low:g} to {high:g} and the judges' from {least:g} to {most:g},"
            " by the grades that they give: the judges' are shown on the human scale. If it is not"
            " so, add --scale LO,HI, and --judge-scale LO,HI where it is another"
        )
    why = "no grade lies outside" if human == (0.0, 1.0) else "the judges use both ends"
    return (
        f"grades go from {low:g} to {high:g}, because {why}. If they can go further, add"
        " --scale LO,HI"
    )


def spoken_cells(data: Data, columns: Sequence[str]) -> Mapping[str, Sequence[Label]]:
    """Return the different cells of each column that say something; none where looking would cost
    a job.
    """
    tokens = frozenset(data.rules.missing)
    if isinstance(data.held, Tally):
        found: dict[str, Sequence[Label]] = {name: data.held.labels[name] for name in columns}
    elif isinstance(data.held, Table):
        query = "select distinct {0} from rows limit {1}"
        found = {
            name: [cell for (cell,) in data.held.query(query.format(identifier(name), _MOST))]
            for name in columns
        }
    else:
        return {}
    return {
        name: [one for one in labels if not _is_silent(one) and str(one) not in tokens]
        for name, labels in found.items()
    }


def _is_silent(label: Label) -> bool:
    return label is None or not str(label).strip() or label == "(unread)" or is_no_answer(label)


def _is_vote(labels: Sequence[Label]) -> bool:
    """Say whether cells are pass/fail, 0/1, or blank."""
    if not labels or as_pass_fail(labels) is not None:
        return True
    values = _numbers(labels)
    return values is not None and set(values) <= {0.0, 1.0}


def _numbers(labels: Sequence[Label]) -> list[float] | None:
    """Return cells as numbers; None if one of them is none, or they are too many."""
    values = [number_of(label) for label in labels]
    if len(values) >= _MOST:
        return None
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else None


# Grades of which less is better: hallucinated yes/no, the number of errors.
#
# Everything in ``score`` calls the higher score better. Such grades are therefore turned round as
# they are read, and a note says so: 22 % hallucinated becomes 78 % not hallucinated.


_NEUTRAL = frozenset(("yes", "no", "y", "n", "true", "false", "t", "f"))
"""Words that are good or bad by the name of their column alone. Pass and unsafe speak for
themselves."""


_CRITERION = frozenset(("criterion", "criteria", "metric", "dimension", "aspect", "rubric"))

_CLEAR = frozenset(
    {
        *("score", "scores", "grade", "grades", "rating", "ratings", "rate", "rated", "stars"),
        *("label", "labels", "vote", "votes", "judge", "judges", "judgement", "judgment"),
        *("verdict", "eval", "evaluation", "evaluator", "result", "results", "answer", "answers"),
        *("response", "output", "human", "annotator", "gold", "llm", "model", "system", "value"),
        *("pass", "passed", "passes", "correct", "correctness", "right", "accurate", "accuracy"),
        *("good", "ok", "quality", "overall", "success", "solved", "resolved", "win", "wins"),
        *("helpful", "helpfulness", "safe", "safety", "relevant", "relevance", "faithful"),
        *("faithfulness", "grounded", "groundedness", "coherent", "coherence", "fluent"),
        *("fluency", "complete", "completeness", "clarity", "clear", "consistent", "consistency"),
        *("honest", "honesty", "harmless", "harmlessness", "useful", "usefulness", "style"),
        *("tone", "polite", "politeness", "factual", "factuality", "truthful", "truthfulness"),
        *("approved", "accept", "accepted", "acceptable", "supported", "compliant", "compliance"),
        *("is", "was", "has", "of", "the", "a", "by", "on", "for", "per", "v1", "v2", "1", "2"),
        *("thumbs", "up", "like", "liked", "likes", "preference", "preferred", "f1", "bleu"),
        *("satisfaction", "satisfied", "instruction", "following", "adherence", "match", "em"),
    }
)
"""Words of which everybody knows that more is better, or that say nothing about it."""


def less_is_better(data: Data) -> str | None:
    """Return the word by which less is better; None where no name says so.

    The name of the human grades decides. Where it is silent, all judges have to agree.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"system": ["a", "b"], "gpt": ["yes", "no"], "hallucinated": ["no", "yes"]}
    >>> less_is_better(read(table, judges=("gpt",), truth="hallucinated", system="system"))
    'hallucinated'
    >>> table["hallucinated"] = ["fail", "pass"]  # a pass is a pass, whatever the column is called
    >>> less_is_better(read(table, judges=("gpt",), truth="hallucinated", system="system")) is None
    True
    """
    truth = data.roles.truth
    named = {name: lower_word(name) for name in data.roles.columns("judges", "truth")}
    word = named.pop(truth, None) if truth is not None else None
    if word is None and named and all(named.values()):
        word = next(iter(named.values()))
    if word is None:
        word = lower_word(_only_criterion(data))
    return word if word is not None and _are_neutral(data) else None


def unclear_measure(data: Data) -> str | None:
    """Return what all columns of grades are named after, if it does not say which way is better.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"system": ["a", "b"], "refusal_gpt": ["yes", "no"], "refusal_human": ["no", None]}
    >>> unclear_measure(
    ...     read(table, judges=("refusal_gpt",), truth="refusal_human", system="system")
    ... )
    'refusal'
    """
    columns = data.roles.columns("judges", "truth")
    if len(columns) < 2:
        return None
    shared = [
        word
        for word in parts(columns[0])
        if word not in _CLEAR and all(word in parts(name) for name in columns[1:])
    ]
    named = " ".join(shared) or _only_criterion(data)
    if named and not set(parts(named)) <= _CLEAR and _are_neutral(data):
        return named
    return None


def unclear_note(measure: str) -> str:
    """Say which way is taken for the better one, and how to say otherwise."""
    return (
        f"a higher grade is taken for the better one; if less {measure!r} is better, add"
        " --lower-is-better"
    )


def _only_criterion(data: Data) -> str | None:
    """Return the criterion by which a table grades, if a column names one and the same for all."""
    if not isinstance(data.held, Table):
        return None
    for name in data.held.columns:
        if name.strip().casefold() in _CRITERION and name not in data.roles.columns():
            cell = identifier(name)
            found = data.held.query(
                f"select distinct {cell} from rows where {cell} is not null limit 2"
            )
            return str(found[0][0]) if len(found) == 1 else None
    return None


def _are_neutral(data: Data) -> bool:
    cells = spoken_cells(data, data.roles.columns("judges", "truth"))
    return all(_is_neutral(labels) for labels in cells.values())


def turned_note(word: str | None) -> str:
    """Say that grades were turned round, by which word, and how to say otherwise."""
    if word is None:
        return "all grades are turned round, because lower is better: a higher score is better here"
    return (
        f"lower is better, by the name {word!r}: all grades are turned round, so that a higher"
        f" score means less {word!r}. Add --higher-is-better if it is not so"
    )


def _is_neutral(labels: Sequence[Label]) -> bool:
    return all(
        isinstance(label, bool)
        or str(label).strip().casefold() in _NEUTRAL
        or number_of(label) is not None
        for label in labels
    )


# Grades that are words of the user's own, such as safe and unsafe, or poor, fair and good.
#
# Which of two words is the good one cannot be guessed: *flagged* may be what is wanted of a
# filter.
# The user lists the words once, the worst first (``--labels unsafe,safe``).


def word_worth(order: Sequence[Label]) -> Mapping[str, float]:
    """Return what each word of *order* is worth: 0 and 1 for two, else 1, 2, 3, … of a scale.

    Words for pass and fail have their own meaning, in any order, and numbers theirs; with one of
    them in the list nothing is said here.

    Examples
    --------
    >>> dict(word_worth(["unsafe", "Safe"])), dict(word_worth(["poor", "fair", "good"]))
    ({'unsafe': 0.0, 'safe': 1.0}, {'poor': 1.0, 'fair': 2.0, 'good': 3.0})
    >>> dict(word_worth(["pass", "fail"])), dict(word_worth(["1", "2"])), dict(word_worth(["bad"]))
    ({}, {}, {})
    """
    words = [as_word(label) for label in order]
    known = as_pass_fail(order) is not None or any(number_of(label) is not None for label in order)
    if len(words) < 2 or known or None in words or len(set(words)) < len(words):
        return {}
    first = 0 if len(words) == 2 else 1
    return {str(word): float(first + place) for place, word in enumerate(words)}


def word_scale(order: Sequence[Label]) -> Scale | None:
    """Return the scale of three words or more, None for two, which are fail and pass.

    >>> word_scale(["poor", "fair", "good"]), word_scale(["unsafe", "safe"])
    ((1.0, 3.0), None)
    """
    worth = word_worth(order)
    return (1.0, float(len(worth))) if len(worth) > 2 else None


# In which units a score is shown: per cent for pass rates, the grades' own scale for numbers.


@dataclass(frozen=True)
class Units:
    """From [0, 1], where everything is computed, to the scale of the grades.

    >>> units = Units((1.0, 5.0))
    >>> units.value(0.75), units.size(0.25), units.score(4.0)
    (4.0, 1.0, '4.00')
    """

    scale: tuple[float, float] | None

    @property
    def share(self) -> bool:
        """Whether scores are shares."""
        return self.scale is None or self.scale == (0.0, 1.0)

    @property
    def width(self) -> float:
        """How long the scale is."""
        return 1.0 if self.scale is None else self.scale[1] - self.scale[0]

    @property
    def decimals(self) -> int:
        """How many decimals a number without an interval is written with."""
        return 2 if self.width < 20 else 1 if self.width < 1000 else 0

    def value(self, x: float) -> float:
        """Return a score on the scale."""
        return x if self.scale is None else self.scale[0] + self.width * x

    def size(self, x: float) -> float:
        """Return a difference on the scale."""
        return x * self.width

    def interval(self, interval: Interval) -> Interval:
        """Return the interval of a score on the scale."""
        return replace(interval, low=self.value(interval.low), high=self.value(interval.high))

    def sizes(self, interval: Interval) -> Interval:
        """Return the interval of a difference on the scale."""
        return replace(interval, low=self.size(interval.low), high=self.size(interval.high))

    def score(self, value: float, interval: Interval | None = None) -> str:
        """Write a score of the result."""
        if interval is None:
            return percent(value) if self.share else f"{value:.{self.decimals}f}"
        return (percent_interval if self.share else number_interval)(value, interval)

    def difference(self, value: float, interval: Interval | None = None) -> str:
        """Write a difference of the result with its sign."""
        if interval is None:
            return points(value) if self.share else f"{value:+.{self.decimals}f}".replace("-", "−")
        if self.share:
            return points_interval(value, interval)
        return number_interval(value, interval, sign=True)

    def lead(self, first: float, second: float) -> str:
        """Write how far one score is ahead of another, such that all three agree as shown."""
        if self.share:
            return shown_difference(first, second, sign=False)
        return f"{first - second:.{self.decimals}f}"
