"""What the labels of one table mean: which are missing, how each is spelled, which can be true.

`agree` looks at the distinct labels of all columns at once. It either settles every question or
asks the user, by raising `InputError` with the option that answers it. It never guesses between two
readings that both fit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import TYPE_CHECKING, Any

from tallystick.errors import AskError, InputError
from tallystick.table.cells import (
    Label,
    LocateRow,
    check_vocabulary,
    identifier,
    identity,
    in_order,
    is_missing,
    spelling,
    whole,
)
from tallystick.table.roles import VOTES
from tallystick.table.tables import Table
from tallystick.table.tally import Tally
from tallystick.table.words import (
    as_word,
    is_never_true,
    is_no_answer,
    is_tie,
    number_of,
    two_vocabularies,
)

if TYPE_CHECKING:
    from tallystick.table.data import Data

_SHOWN = 8
"""How many labels a message lists."""


@dataclass(frozen=True, kw_only=True)
class LabelRules:
    """What the user has said about labels.

    Parameters
    ----------
    missing
        Tokens that mean no answer, besides blank cells and NaN.
    coerce
        Whether several spellings of one label are read as one.
    labels
        The labels that are possible, if the user has listed them. A word such as NA or tie is then
        a label if it is in the list, and a vote that is not in the list can never be true.
    never_true
        Votes that can never be the true label.
    """

    missing: tuple[str, ...] = ()
    coerce: bool = False
    labels: tuple[Label, ...] = ()
    never_true: tuple[Label, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What the labels of a table mean.

    Parameters
    ----------
    missing
        All tokens that count as no answer: the user's, then the words found, as they are written.
    renaming
        For each column, the label that each label is read as; None where it counts as no answer.
        Without `coerce` every other label is read as itself.
    never_true
        The labels, after renaming, that can be voted but never be true.
    notes
        One sentence for each thing that was decided and not said by the user.
    """

    missing: tuple[str, ...]
    renaming: Mapping[str, Mapping[Label, Label]]
    never_true: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()


def agree(
    labels: Mapping[str, Sequence[Label]],
    *,
    truth: str | None,
    votes: Sequence[str],
    rules: LabelRules,
    weak: Sequence[str] = (),
    locate_row: LocateRow | None = None,
) -> Meaning:
    r"""Decide what every label of a table means, or ask the user.

    The rules are applied in this order: (1) each label has one spelling over all columns; (2) words
    for no answer are missing; (3) the code -1 beside other labels is no answer of a weak label, and
    is asked about elsewhere; (4) votes such as tie or refused can never be true; (5) the truth and
    the votes share a label; (6) right and wrong in two vocabularies, such as 0, 1, no and yes, are
    asked about.

    Parameters
    ----------
    labels
        The distinct labels of each column. The columns of *truth* and *votes* are among them; any
        other column, such as a prediction, is held to the same spelling.
    truth
        The column of true labels, or None.
    votes
        The columns that vote.
    rules
        What the user has said.
    weak
        The columns of *votes* that are weak labels. By the convention of labelling functions they
        say -1 where they abstain.
    locate_row
        Where a label first stands in a column (`Table.row_of`), for messages.

    Examples
    --------
    >>> table = {"gold": ["a", "b", "NA"], "gpt": ["a", "b", "tie"]}
    >>> meaning = agree(table, truth="gold", votes=["gpt"], rules=LabelRules())
    >>> meaning.missing, meaning.never_true
    (('NA',), ('tie',))
    >>> print(*meaning.notes, sep="\n")
    column 'gold' says NA: read as no answer. If NA is a label, add --labels a,b,tie,NA
    column 'gpt' says tie: read as a vote that can never be true. If tie is a label, add --labels a,b,tie
    >>> agree({"gold": ["a", "NA"], "gpt": ["a", "NA"]}, truth="gold", votes=["gpt"], rules=LabelRules())
    Traceback (most recent call last):
    tallystick.errors.AskError: columns 'gold', 'gpt' say NA: is it a label, or ...
    """
    for name in (*votes, *([truth] if truth is not None else [])):
        if name not in labels:
            raise InputError(f"labels has no column {name!r}: it has {list(labels)!r}")
    table = _Labels(labels, truth, tuple(votes), rules)
    holders = table.holders(-1)
    if holders and {*holders} <= {*weak} and not table.is_named(-1) and table.is_code(-1):  # (3)
        plain = replace(rules, missing=(*rules.missing, "-1"))
        meaning = agree(
            labels, truth=truth, votes=votes, rules=plain, weak=weak, locate_row=locate_row
        )
        return replace(meaning, notes=(table.note(holders, -1, "no answer"), *meaning.notes))

    renaming = check_vocabulary(table.spoken, coerce=rules.coerce, locate_row=locate_row)  # (1)
    table.refuse_contradictions()
    words = table.words_for_no_answer()  # (2)
    table.ask_about_one_side()  # (3)
    never_true = table.never_true()  # (4)
    table.refuse_strangers({spelling(label) for label in never_true})  # (5)
    table.ask_about_two_vocabularies()  # (6)

    # A label that counts as no answer is read as None, whatever its spelling.
    full: dict[str, dict[Label, Label]] = {
        name: {label: renaming[name].get(label) for label in column if label is not None}
        for name, column in labels.items()
    }
    read_as = {identity(old): new for column in renaming.values() for old, new in column.items()}
    tokens = {label.strip(): None for found in words.values() for _, label in found}
    return Meaning(
        missing=tuple(dict.fromkeys([*rules.missing, *tokens])),
        renaming=full,
        never_true=in_order(read_as[identity(label)] for label in never_true),
        notes=tuple(table.notes(words, never_true)),
    )


class _Labels:
    """The labels of one table, and the questions that the rules put to them."""

    def __init__(
        self,
        labels: Mapping[str, Sequence[Label]],
        truth: str | None,
        votes: tuple[str, ...],
        rules: LabelRules,
    ) -> None:
        self.truth, self.votes, self.rules = truth, votes, rules
        self.declared = {spelling(label) for label in rules.labels}
        self.never = {spelling(label) for label in rules.never_true}
        tokens = frozenset(rules.missing)

        # What is left after the user's tokens: words for no answer, and the labels that are spoken.
        self.silent: dict[str, list[Label]] = {}
        self.spoken: dict[str, list[Label]] = {}
        for name, column in labels.items():
            present = [label for label in column if not is_missing(label, tokens)]
            silent = [one for one in present if is_no_answer(one) and not self.is_named(one)]
            self.silent[name] = silent
            self.spoken[name] = [label for label in present if label not in silent]
        self.true = self.spoken.get(truth or "", [])
        self.every = in_order(label for column in self.spoken.values() for label in column)

    def is_named(self, label: Label) -> bool:
        """Say whether the user has listed *label*, as possible or as never true."""
        return spelling(label) in self.declared | self.never

    def holders(self, label: Label) -> list[str]:
        """Return the columns that say *label*, in any spelling."""
        held = {name: set(map(spelling, column)) for name, column in self.spoken.items()}
        return [name for name, said in held.items() if spelling(label) in said]

    def is_code(self, label: Label) -> bool:
        """Say whether a number can mean no answer: beside words, or whole numbers from 0 on, and
        not beside nothing but 1.
        """
        rest = {spelling(one) for one in self.every} - {label}
        numbers = [one for one in rest if isinstance(one, int | float)]
        return rest not in (set(), {1}) and all(n >= 0 and float(n).is_integer() for n in numbers)

    def refuse_contradictions(self) -> None:
        """Refuse a truth that the user's own lists exclude."""
        for label in self.true:
            listed = not self.declared or spelling(label) in self.declared
            if not listed or spelling(label) in self.never:
                raise InputError(
                    f"the truth {self.truth!r} holds {label!r}, which"
                    f" {'--never-true names' if listed else '--labels lacks'}: add it to labels"
                    f" (--labels {self._with(label)}), leave it out of never_true, or mark it as"
                    f" missing (--missing={label})"
                )

    def words_for_no_answer(self) -> dict[str, list[tuple[str, str]]]:
        """Return each word for no answer with the columns and spellings that say it; ask where it
        can also be a label.
        """
        found: dict[str, list[tuple[str, str]]] = {}
        for name, silent in self.silent.items():
            for label in silent:
                found.setdefault(as_word(label) or "", []).append((name, str(label)))
        for word, said in found.items():
            names = {name: None for name, _ in said}
            # "None" is a common name of a class; several judges who use it may well mean the class.
            both = len(names) > 1 and self.truth in names
            alone = self.truth is None and word == "none" and len({*names} & {*self.votes}) > 1
            if both or alone:
                raise self._label_or_nothing(f"{_columns(names)} {said[0][1].strip()}", said[0][1])
        return found

    def ask_about_one_side(self) -> None:
        """Ask about -1, and a truth "unknown" or "unsure", that one side uses and the other never.

        -1 is a label like any other beside nothing but 1, beside other numbers below 0, and beside
        fractions. A vote "unknown" has its own rule: it can never be true.
        """
        unsure = {str(spelling(one)) for one in self.true if is_never_true(one) and not is_tie(one)}
        speaks = any(column for name, column in self.spoken.items() if name != self.truth)
        for label in (*((-1,) if self.is_code(-1) else ()), *sorted(unsure)):
            holders = self.holders(label)
            others, true = {*holders} - {self.truth}, self.truth in holders
            one_sided = (label == -1 and others and not true) or (true and not others and speaks)
            if self.is_named(label) or not one_sided:
                continue
            rest = [one for one in in_order(map(spelling, self.every)) if one != label]
            lacks = "the votes" if true else f"the truth {self.truth!r}" if self.truth else ""
            other = f", not in {lacks}" if lacks else ""
            seen = f"{_columns(holders)} {label} beside {_listed(rest)}{other}"
            raise self._label_or_nothing(seen, label)

    def _label_or_nothing(self, seen: str, label: Label) -> AskError:
        """Ask whether a value is a label, or means no answer."""
        label = label.strip() if isinstance(label, str) else label
        every = self._with(label)
        calls = (f"--missing={quote(str(label))}", f"--labels={quote(every)}")
        return AskError(
            f"{seen}: is it a label, or does it mean no answer?",
            role="missing",
            candidates=(str(label),),
            # A list that is cut short would make labels of the table impossible.
            calls=calls[: 1 if "…" in every else 2],
        )

    def never_true(self) -> list[Label]:
        """Return the votes that can never be true: by the user's word, or by their name."""
        true = set(map(spelling, self.true))
        found: dict[Label, Label] = {}
        for label in in_order(label for name in self.votes for label in self.spoken[name]):
            one = spelling(label)
            by_name = one not in self.declared and (bool(self.declared) or is_never_true(label))
            if one not in true and (by_name or one in self.never):
                found.setdefault(one, label)
        return list(found.values())

    def refuse_strangers(self, extra: Collection[Label]) -> None:
        """Refuse votes that write no true label: all of them, or one that writes them otherwise."""
        true = set(map(spelling, self.true))
        said = {
            name: in_order(one for one in self.spoken[name] if spelling(one) not in extra)
            for name in self.votes
        }
        own = {name: set(map(spelling, column)) for name, column in said.items()}
        voted = set().union(*own.values())
        if len(true) < 2:
            return
        bare = set(map(_bare, true))
        for name, column in own.items():
            alike = 2 * sum(_bare(label) in bare for label in said[name]) >= len(said[name])
            none = len(voted) > 1 and not voted & true
            otherwise = len(column) > 1 and not column & true and alike
            if none or (otherwise and not column <= self.declared):
                raise InputError(
                    f"column {name!r} says {_listed(said[name])}, and the truth {self.truth!r} says"
                    f" {_listed(in_order(self.true))}: no label is shared, so {name!r} would never"
                    f" be right. Write both alike, or leave it out (--ignore {quote(name)})"
                )

    def ask_about_two_vocabularies(self) -> None:
        """Ask about right and wrong in two vocabularies: two files that were put together."""
        pairs = two_vocabularies(self.every)
        if pairs is not None and not self.declared:
            labels = {spelling(label): label for label in self.every}
            raise InputError(
                f"the labels are {pairs[0]}, and also {pairs[1]}: if they mean the same, write them"
                " alike; if they are four labels, name all labels with labels="
                f" (--labels {','.join(str(one) for one in list(labels.values())[:_SHOWN])})"
            )

    def notes(
        self, words: Mapping[str, Sequence[tuple[str, str]]], never_true: Sequence[Label]
    ) -> Iterator[str]:
        """Yield one sentence for each word that was read as no answer, or as never true."""
        for said in words.values():
            label = said[0][1].strip()
            yield self.note({name: None for name, _ in said}, label, "no answer")
        for one in never_true:
            if spelling(one) not in self.never:
                names = [name for name in self.holders(one) if name in self.votes]
                yield self.note(names, one, "a vote that can never be true")

    def note(self, names: Collection[str], label: Label, what: str) -> str:
        """Say what a word was read as, and how to say that it is a label."""
        return (
            f"{_columns(names)} {label}: read as {what}. If {label} is a label, add --labels"
            f" {self._with(label)}"
        )

    def _with(self, label: Label) -> str:
        """Return the list of labels, with *label* last, as the option takes it."""
        known = {(spelling(one) if self.rules.coerce else identity(one)): one for one in self.every}
        rest = [str(one) for one in known.values() if spelling(one) != spelling(label)]
        shown = [*rest[:_SHOWN], "…"] if len(rest) > _SHOWN else rest
        return ",".join([*shown, str(whole(label)).strip()])


def _columns(names: Collection[str]) -> str:
    several = len(names) > 1
    return f"column{'s' * several} {_listed(names)} say{'s' * (not several)}"


def _bare(label: Label) -> str:
    """Return the letters and digits of a label."""
    return "".join(letter for letter in str(label).casefold() if letter.isalnum())


def _listed(labels: Iterable[Label]) -> str:
    shown = list(labels)
    return ", ".join(map(repr, shown[:_SHOWN])) + (", …" if len(shown) > _SHOWN else "")


# Labels that are one although they are written in two ways, where the table itself shows it.
#
# ``Refund`` beside ``refund`` is a slip of whoever wrote the column, and ``1`` beside ``1.0`` the
# work of pandas, which writes a column of integers with a gap as decimals. They are read as one
# label if nothing tells them apart on purpose. Otherwise the user is asked (`check_vocabulary`).


_MOST_SPELLED = 1_000
"""Different cells from which a column holds texts rather than labels."""

# At most 15 digits: beyond 2^53 whole numbers cannot be told apart.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.0+)?")


def one_spelling(data: Data) -> Data:
    """Return *data*, read with one spelling of each label where the table shows that this is safe.

    Words are one label if the column of true labels never tells two of them apart by capitals or
    blanks; without a truth, if no column does: a judge that means two things writes both. Words
    such as tie and error mean one thing in any spelling. Numbers are one label if every cell is a
    whole number; versions 1.1 and 1.10 and the names 7 and 007 stay a question, and so do numbers
    beside the same numbers as text: they may differ on purpose.

    Examples
    --------
    >>> from tallystick.table import read
    >>> table = {"gold": ["yes", "no"], "gpt": ["Yes", "no"]}
    >>> one_spelling(read(table, truth="gold", judges=("gpt",))).rules.coerce
    True
    >>> one_spelling(read({"a": ["Yes", "no"], "b": ["yes", "no"]}, judges=("a", "b"))).rules.coerce
    True
    >>> one_spelling(read({"a": ["Yes", "yes"], "b": ["yes", "no"]}, judges=("a", "b"))).rules.coerce
    False
    >>> one_spelling(read({"a": ["1", "0"], "b": ["1.0", ""]}, judges=("a", "b"))).rules.coerce
    True
    """
    if data.rules.coerce:
        return data
    truth, tokens = data.roles.truth, frozenset(data.rules.missing)
    found = _texts(data.held, data.roles.columns("truth", *VOTES))
    if found is None:
        return data
    written = {
        name: [one for one in texts if not (is_missing(one, tokens) or is_no_answer(one))]
        for name, texts in found.items()
    }
    pair = _pair(written)
    if pair is None:
        return data
    texts = [text for column in written.values() for text in column]
    decides = [written[truth]] if truth is not None else list(written.values())
    if not all(_WHOLE.fullmatch(text.strip()) for text in texts) and (
        any(number_of(text) is not None for text in texts)
        or any(_tells_apart([one for one in own if not is_never_true(one)]) for own in decides)
    ):
        return data
    (column, label), (other, first) = pair
    note = (
        f"column {column!r} says {label!r} and column {other!r} says {first!r}: labels that"
        " differ only by capitals, blanks or the way a whole number is written are read as one"
    )
    return replace(data, rules=replace(data.rules, coerce=True), notes=(*data.notes, note))


def _texts(held: Table | Tally, columns: Sequence[str]) -> dict[str, list[str]] | None:
    """Return the different cells of columns of text, sorted; None if one is no column of text."""
    if isinstance(held, Tally):
        found: dict[str, list[Any]] = {
            name: [one for one in held.labels[name] if not is_missing(one)] for name in columns
        }
    else:
        kinds = held.kinds
        if not columns:
            return {}
        if any(kinds.get(name) != "text" for name in columns):
            return None
        # All columns at once: a question for each of 500 workers took three seconds.
        names = ", ".join(map(identifier, columns))
        each = (
            f"select distinct name, cell from (unpivot rows on {names} into name name value cell)"
        )
        most = f"row_number() over (partition by name) <= {_MOST_SPELLED}"
        found = {name: [] for name in columns}
        for name, cell in held.query(f"select name, cell from ({each}) qualify {most}"):
            found[name].append(cell)
    for texts in found.values():
        if len(texts) >= _MOST_SPELLED or not all(isinstance(one, str) for one in texts):
            return None
    return {name: sorted(texts) for name, texts in found.items()}


def _pair(written: Mapping[str, Sequence[str]]) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Return the first label that is written in two ways, with the columns of both."""
    first: dict[Label, tuple[str, str]] = {}
    for column, texts in written.items():
        for text in texts:
            other = first.setdefault(spelling(text), (column, text))
            if other[1] != text:
                return (column, text), other
    return None


def _tells_apart(texts: Sequence[str]) -> bool:
    """Say whether one column writes one label in two ways."""
    return len({spelling(text) for text in texts}) < len(texts)
