"""Ask each capability what it can say of a table whose columns are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallystick._rng import Rng
from tallystick.audit.reading import Reading
from tallystick.audit.result import Skipped
from tallystick.errors import InputError, TallystickError
from tallystick.io import Roles, Table, identifier
from tallystick.io.roles import ROWS_COUNT
from tallystick.results import Result
from tallystick.values.missing import without_missing

__all__ = ["SECTIONS", "Section", "ask_all"]

Section = Callable[[Table, Reading, float, Rng], Result]

_THRESHOLDS = tuple(k / 20 for k in range(1, 20))
_UNIT = "no score can lie outside 0 and 1; all of these lie within"


def ask_all(
    table: Table, reading: Reading, *, alpha: float, rng: Rng
) -> tuple[list[Result], list[Skipped]]:
    """Run all that applies; what applies but cannot answer says why."""
    answered: list[Result] = []
    skipped: list[Skipped] = []
    for verb, section in SECTIONS.items():
        if not _applies(verb, reading):
            continue
        try:
            answered.append(section(table, reading, alpha, rng))
        except TallystickError as error:
            skipped.append(Skipped(verb, str(error)))
    if reading.weak and not (reading.prediction or reading.score):
        reason = (
            "the weak labels bound a classifier: name its answers (--prediction) or its scores"
            " (--score)"
        )
        skipped.append(Skipped("bound", reason))
    return answered, skipped


def _applies(verb: str, reading: Reading) -> bool:
    models = (*reading.votes, *([reading.prediction] if reading.prediction else []))
    return {
        "compare": len(reading.scores) > 1 or (reading.truth is not None and len(models) > 1),
        "judge": bool(reading.votes),
        "bound": bool(reading.weak and (reading.prediction or reading.score)),
        "shift": bool(reading.old and reading.new),
        "dynamic": bool(reading.round and len(reading.votes) > 1),
    }[verb]


def _compare(table: Table, reading: Reading, alpha: float, rng: Rng) -> Result:
    import numpy as np

    from tallystick.compare import Settings, evaluate
    from tallystick.compare.reading import read_board

    columns = reading.scores or (
        *reading.votes,
        *([reading.prediction] if reading.prediction else []),
    )
    bounds = None
    if reading.scores and _within_unit(table, reading):
        bounds = (0.0, 1.0)
    others = {"cluster": reading.cluster} if reading.cluster else None
    roles = reading.roles(columns, truth=None if reading.scores else reading.truth, others=others)
    roles = replace(roles, item=None)  # every row is an item, as the reading has found
    # as judge assumes of the same labels
    settings = Settings(bounds=bounds, alpha=alpha, blanks="random")
    board = read_board(_narrow(table, roles), roles, bounds=bounds)
    found = evaluate(board, settings=settings, rng=rng)
    # Marks that are all 0 or 1 declare themselves, here as in the verb.
    return (
        found if bounds is None or np.isin(board.scores, (0, 1)).all() else _rests_on(found, _UNIT)
    )


def _rests_on(found: Result, assumption: str) -> Result:
    return replace(found, assumptions=(*found.assumptions, assumption))


def _narrow(table: Table, roles: Roles) -> Table:
    """Return the columns that have a role; what the others are named is settled by now."""
    used = {*roles.labels, roles.truth, roles.weight, *roles.others.values()}
    names = tuple(name for name in table.columns if name in used)
    return replace(
        table, relation=table.relation.project(", ".join(map(identifier, names))), columns=names
    )


def _within_unit(table: Table, reading: Reading) -> bool:
    numbers = [f"try_cast({_cell(table, reading, name)} as double)" for name in reading.scores]
    [ends] = table.query(
        f"select {', '.join(f'min({number}), max({number})' for number in numbers)} from rows"
    )
    return all(end is not None and 0 <= end <= 1 for end in ends)


def _judge(table: Table, reading: Reading, alpha: float, rng: Rng) -> Result:
    from tallystick.judge import evaluate
    from tallystick.tally import Tally

    columns = (*reading.votes, *([reading.truth] if reading.truth else []))
    votes = Tally.of(
        table,
        columns=columns,
        weight=reading.weight,
        missing=reading.missing,
        coerce=reading.coerce,
    )
    found = evaluate(votes, truth=reading.truth, alpha=alpha, rng=rng)
    return found if reading.weight is None else _rests_on(found, ROWS_COUNT)


def _bound(table: Table, reading: Reading, alpha: float, rng: Rng) -> Result:
    from tallystick.bound import Question, edges_of, evaluate, sweep
    from tallystick.tally import Tally

    judged = reading.prediction or reading.score or ""
    columns = (*reading.weak, judged, *([reading.truth] if reading.truth else []))
    cut = {judged: edges_of(_THRESHOLDS)} if reading.prediction is None else None
    counted = Tally.of(
        table,
        columns=columns,
        cut=cut,
        weight=reading.weight,
        missing=reading.missing,
        coerce=reading.coerce,
    )
    said: dict[str, Any] = {
        "weak": reading.weak,
        "truth": reading.truth,
        "question": Question(alpha=alpha),
        "rng": rng,
    }
    found = (
        sweep(counted, score=judged, **said)
        if cut
        else evaluate(counted, prediction=judged, **said)
    )
    return found if reading.weight is None else _rests_on(found, ROWS_COUNT)


def _shift(table: Table, reading: Reading, alpha: float, rng: Rng) -> Result:
    """Assess the change with every answer known: the old and the new column side by side."""
    import numpy as np

    from tallystick.shift import Answers, AskDesign, Items, assess, design

    if reading.truth is None or reading.old is None or reading.new is None:
        raise InputError("the true label of every item is needed: name its column (--truth)")
    names = [
        reading.truth,
        reading.old,
        reading.new,
        *([reading.confidence] if reading.confidence else []),
    ]
    truth, old, new, *confidence = _columns(table, reading, names)
    labels = {str(value) for value in truth if value is not None}
    others = sorted({str(value) for value in old if value is not None} - labels)
    items = Items.of(truth, old=old, other=others, confidence=confidence[0] if confidence else None)
    codes = np.array([items.code(None if value is None else str(value)) for value in new])
    plan = design(items, calls=len(items), how=AskDesign())
    return assess(items, plan.strata, Answers.of(np.arange(len(items)), codes), alpha=alpha)


def _dynamic(table: Table, reading: Reading, alpha: float, rng: Rng) -> Result:
    from tallystick.dynamic import RoundLog, analyse

    if reading.round is None or reading.truth is None:
        raise InputError("the true label of every item is needed: name its column (--truth)")
    names = [
        reading.round,
        reading.truth,
        *reading.votes,
        *([reading.validators] if reading.validators else []),
    ]
    columns = dict(zip(names, _columns(table, reading, names), strict=True))
    log = RoundLog.from_wide(
        columns,
        round=reading.round,
        truth=reading.truth,
        models=reading.votes,
        validators=reading.validators,
        coerce=reading.coerce,
    )
    return analyse(log, alpha=alpha, rng=rng)


def _columns(table: Table, reading: Reading, names: Sequence[str]) -> list[list[Any]]:
    """Read whole columns, every missing value as None."""
    cells = ", ".join(f"{_cell(table, reading, name)} as {identifier(name)}" for name in names)
    found = table.derive(f"select {cells} from rows").to_arrow_table()
    return [found[name].to_pylist() for name in names]


def _cell(table: Table, reading: Reading, name: str) -> str:
    return without_missing(name, table.kinds[name], reading.missing)


SECTIONS: Mapping[str, Section] = {
    "compare": _compare,
    "judge": _judge,
    "bound": _bound,
    "shift": _shift,
    "dynamic": _dynamic,
}
"""Verb to what it says of a table, given its reading, alpha and a seed."""
