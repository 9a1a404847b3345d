"""From a table and a question per row to the table with one more column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from tallystick.clients import (
    UNREAD,
    Gathered,
    Questions,
    client_columns,
    client_of,
    fields,
    gather,
    request_notes,
    text_or_file,
    unread_warnings,
    usage_warnings,
)
from tallystick.errors import FileError, InputError
from tallystick.results import Result
from tallystick.table import Capability, Data, Door, answered, check_ending, whole, write_csv
from tallystick.verbs.ask.result import (
    READ_AGAIN,
    AskQuestion,
    AskResult,
    Cost,
    asked_verdict,
    before,
    demo,
    left_warnings,
)


def evaluate(source: Any, **options: Any) -> AskResult:
    """Ask an API about every row of whatever `tallystick.table.door` takes.

    Parameters
    ----------
    source
        A path, a frame, a mapping of columns, …
    **options
        The fields of `AskQuestion` (*api*, *prompt*, *name*, *answer*, …), *item*, *labels* and the
        other options of reading.

    Examples
    --------
    >>> table = {"id": [1, 2], "said": ["Yes.", "I'm sorry, I can't say."]}
    >>> result = evaluate(table, api="replay:said", name="judge", labels=("yes", "no"))
    >>> result.table["judge"], result.unread
    (['yes', '(unread)'], 1)
    """
    return answered(CAPABILITY, source, options)


def answer(data: Data, question: AskQuestion) -> AskResult:
    """Ask and add the column. All that can be wrong is found before a call is paid for."""
    plan, columns = _prepared(data, question), client_columns(data)
    client = client_of(question, columns=columns, labels=plan.labels or ())

    def confirm(known: int, size: Callable[[int], int]) -> None:
        if question.confirm is not None:
            question.confirm(_cost_before(plan, known, size))

    with (question.progress or nullcontext)() as show:
        came = gather(client, plan, confirm=confirm, progress=show)
    result = _result(data, question, plan, came)
    if question.out is not None:
        write_csv(question.out, result.table)
    return result


def _prepared(data: Data, question: AskQuestion) -> Questions:
    """Check columns and files, and return the questions."""
    columns = client_columns(data)
    for name in question.pair:
        if name not in columns:
            raise InputError(
                f"pair (--pair) names {name!r}, which is not a column of {data.source}"
                f" ({', '.join(columns[:8])})"
            )
    if question.out is not None:
        check_ending(question.out)
        is_input = question.out.exists() and str(question.out) in data.source
        if is_input or not question.out.parent.is_dir():
            raise FileError(
                f"-o {question.out} is the input, or its folder does not exist: name another file,"
                " so that nothing is lost"
            )
    labels = tuple(str(whole(label)) for label in data.rules.labels)
    if question.pair:
        labels = labels or USUAL
        _check_pair(question, labels)
    plan = Questions.of(data, question, labels=labels, added=_added(question))
    if question.pair:
        names, rows = both_orders(plan.names, plan.rows, question.pair)
        return replace(plan, names=names, rows=rows)
    return replace(plan, draws=question.repeats)


def _check_pair(question: AskQuestion, labels: Sequence[str]) -> None:
    """Refuse labels that do not name both answers."""
    first, second = question.pair
    if not any({one, other} <= set(labels) for one, other in (question.pair, *_NAMES)):
        raise InputError(
            f"pair (--pair) asks which of two is better, and none of the labels {', '.join(labels)}"
            f" names the first or the second: use --labels A,B,tie, or {first},{second},tie"
        )
    if question.prompt is None:
        return
    if not {first, second} <= fields(text_or_file(question.prompt)):
        raise InputError(
            f"the prompt of a pair (--pair) must hold both answers, as {{{first}}} and {{{second}}}"
        )


def _added(question: AskQuestion) -> tuple[str, ...]:
    """Return the columns that a question adds, the one with the answers first."""
    name = question.name
    if question.pair:
        return name, f"{name}.as_given", f"{name}.swapped"
    return (name, *(f"{name}.{draw}" for draw in range(2, question.repeats + 1)))


def _cost_before(plan: Questions, known: int, size: Callable[[int], int]) -> str:
    """Say what the questions that are left will cost."""
    prices, limit = plan.question.prices, plan.question.max_cost
    left = len(plan.questions) - known
    some = range(0, len(plan.rows), max(1, len(plan.rows) // 200))
    sizes = [size(row) for row in some] or [0]
    likely = left * sum(map(prices.likely, sizes)) / len(sizes)
    most = left * max(map(prices.most, sizes)) if prices.known and prices.bounded else None
    if limit is not None:
        likely, most = min(likely, limit), min(limit, most) if most is not None else limit
    return before(
        questions=len(plan.questions),
        known=known,
        likely=likely if prices.known else 0.0,
        most=most,
        currency=prices.currency,
    )


def _result(
    data: Data,
    question: AskQuestion,
    plan: Questions,
    came: Gathered,
) -> AskResult:
    """Read the answers, and put them beside the rows."""
    read, unread = came.labels, came.unread
    n_unread = sum(label == UNREAD for label in read.values())
    disagree = None
    if question.pair:
        added, disagree = _paired(question, plan, read)
    else:
        added = {
            name: [read.get((row, draw)) for row in range(len(plan.rows))]
            for draw, name in enumerate(_added(question), 1)
        }
    answers = len(read)
    unasked = len(plan.questions) - answers - came.failed
    journal = came.journal
    cost = Cost(
        spent=journal.spent,
        currency=question.prices.currency,
        sent=journal.sent.total(),
        billed=journal.billed,
        paid_twice=journal.paid_twice,
        unused=journal.in_flight,
    )
    main = added[question.name]
    return AskResult(
        verdict=asked_verdict(
            question.name,
            asked=len(plan.questions) - unasked,
            answered=answers,
            unread=n_unread,
            failed=came.failed,
        ),
        n_items=data.n_rows,
        warnings=(
            *unread_warnings(
                unread,
                answers=answers,
                labels=plan.labels or (),
                way=READ_AGAIN,
            ),
            *left_warnings(failed=came.failed, unasked=unasked, limit=question.max_cost),
            *usage_warnings(came.journal.usage),
        ),
        notes=(*request_notes(journal, cost.currency, reused=came.reused), *journal.notes),
        column=question.name,
        columns=tuple(added),
        asked=len(plan.questions) - unasked,
        answered=answers,
        unread=n_unread,
        failed=came.failed,
        from_journal=came.reused,
        counts=dict(Counter(label for label in main if label is not None).most_common(20)),
        examples=tuple(dict.fromkeys(text[:200] for text in unread))[:3],
        disagree=disagree,
        cost=cost,
        usage=came.journal.usage,
        table={**data.cells(*client_columns(data)), **added},
    )


def _paired(
    question: AskQuestion, plan: Questions, read: Mapping[tuple[int, int], str]
) -> tuple[dict[str, list[str | None]], int]:
    """Put both orders together: the winner that both name, a tie where they differ."""
    pair, number = question.pair, len(plan.rows) // 2
    given = [read.get((row, 1)) for row in range(number)]
    turned = [
        mirrored(read.get((number + row, 1)), pair, plan.labels or ()) for row in range(number)
    ]
    both = [combined(a, b, UNREAD) for a, b in zip(given, turned, strict=True)]
    name, first, second = _added(question)
    columns = {name: [label for label, _ in both], first: given, second: turned}
    return columns, sum(apart for _, apart in both)


def item_columns(result: Result, data: Data) -> Mapping[str, Any]:
    """Return the table with the new columns."""
    assert isinstance(result, AskResult)
    return result.table


CAPABILITY = Capability(
    verb="ask",
    question=AskQuestion,
    answer=answer,
    reads=("item",),
    door=Door(pivots=False, repeats=True),
    items=item_columns,
    demo=demo,
)

# Two answers compared in both orders: what a judge says of them, whatever stood first.


TIE = "tie"
"""What two orders that name different winners come to."""


USUAL = ("A", "B", TIE)
"""What is read where nobody lists the labels: an answer to a swapped row can only be turned back
where it is known which words name the first and the second."""


def both_orders(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], pair: Sequence[str]
) -> tuple[list[str], list[Mapping[str, Any]]]:
    """Return every row as it is, then every row with the two columns exchanged.

    >>> names, rows = both_orders(["x"], [{"a": 1, "b": 2}], ("a", "b"))
    >>> names, rows[1]
    (['x', 'x (swapped)'], {'a': 2, 'b': 1})
    """
    a, b = pair
    swapped = [{**row, a: row[b], b: row[a]} for row in rows]
    return [*names, *(f"{name} (swapped)" for name in names)], [*rows, *swapped]


def mirrored(answer: str | None, pair: Sequence[str], labels: Sequence[str]) -> str | None:
    """Return an answer to the swapped row as if the row had not been swapped.

    The winner may be written as the name of its column, or as one of two labels that stand for the
    first and the second answer: A and B, 1 and 2, first and second.

    >>> mirrored("A", ("left", "right"), ["A", "B", "tie"])
    'B'
    >>> mirrored("tie", ("left", "right"), ["A", "B", "tie"])
    'tie'
    """
    if answer is None:
        return None
    for first, second in (tuple(pair), *_NAMES):
        if {first, second} <= set(labels):
            return {first: second, second: first}.get(answer, answer)
    return answer


_NAMES = (("A", "B"), ("a", "b"), ("1", "2"), ("first", "second"), ("left", "right"), ("X", "Y"))


def combined(first: str | None, second: str | None, unread: str) -> tuple[str | None, bool]:
    """Return what both orders come to, and whether they disagree.

    >>> combined("A", "A", "(unread)"), combined("A", "B", "(unread)")
    (('A', False), ('tie', True))
    """
    for one, other in ((first, second), (second, first)):
        if one is None or one == unread:
            return one if one == unread or other is None else None, False
    return (first, False) if first == second else (TIE, True)
