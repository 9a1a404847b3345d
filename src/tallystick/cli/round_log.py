"""Read the log of a dynamic benchmark from a table: which column is what, long or wide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tallystick.cli.deliver import tell
from tallystick.errors import InputError

if TYPE_CHECKING:
    from tallystick.dynamic import RoundLog
    from tallystick.io import Roles, Table

__all__ = ["LogColumns", "RoundLogReader"]


@dataclass(frozen=True, kw_only=True)
class LogColumns:
    """What the options said of the columns of a log.

    Parameters
    ----------
    item, round, truth, validators, cost, weight, by
        Of both shapes.
    model, correct, prediction
        Of a long log: one row an item and model.
    models, chain
        Names of models: columns of a wide log, to choose from in a long one.
    missing, coerce
        Tokens for no answer; whether several spellings of a label are read as one.
    """

    item: str | None
    round: str
    truth: str | None
    validators: str | None
    cost: str | None
    weight: str | None
    by: str | None
    model: str
    correct: str
    prediction: str | None
    models: tuple[str, ...]
    chain: tuple[str, ...]
    missing: tuple[str, ...]
    coerce: bool

    @property
    def beside(self) -> dict[str, str]:
        """Columns beside the answers, role to column, where they were named."""
        named = {
            "round": self.round,
            "validators": self.validators,
            "cost": self.cost,
            "weight": self.weight,
        }
        return {role: column for role, column in named.items() if column is not None}

    @property
    def long(self) -> dict[str, str]:
        """The columns of a long log, role to column, where they were named."""
        named = {"item": self.item or "item", "model": self.model, "correct": self.correct}
        more = {"prediction": self.prediction, "truth": self.truth}
        return {
            **self.beside,
            **named,
            **{role: column for role, column in more.items() if column is not None},
        }


class RoundLogReader:
    """Reads the log in a table, or in a slice of it, after its columns were settled once."""

    def __init__(self, table: Table, columns: LogColumns) -> None:
        self._columns = columns
        long = columns.model in table.columns and columns.correct in table.columns
        self._roles = None if long else _wide_roles(table, columns)
        if long:
            _check_long(table, columns)

    def __call__(self, table: Table) -> RoundLog:
        """Return the log of *table*."""
        return self._long(table) if self._roles is None else self._wide(table, self._roles)

    def _long(self, table: Table) -> RoundLog:
        from tallystick.dynamic import RoundLog

        asked = self._columns
        found = _cells(table, asked.long, asked.missing)
        log = RoundLog.from_long(
            item=found["item"],
            round=found["round"],
            model=found["model"],
            correct=found["correct"],
            prediction=found.get("prediction"),
            truth=found.get("truth"),
            validators=found.get("validators"),
            cost=found.get("cost"),
            weight=found.get("weight"),
            coerce=asked.coerce,
        )
        names = [name.strip() for text in asked.models for name in text.split(",")]
        return log.select(names) if names else log

    def _wide(self, table: Table, roles: Roles) -> RoundLog:
        from tallystick.dynamic import RoundLog

        asked = self._columns
        named = {
            **asked.beside,
            "truth": roles.truth or "",
            **({"item": roles.item} if roles.item else {}),
        }
        found = _cells(
            table, {**named, **{f"model {name}": name for name in roles.labels}}, asked.missing
        )
        columns = {column: found[role] for role, column in named.items()}
        columns |= {name: found[f"model {name}"] for name in roles.labels}
        return RoundLog.from_wide(
            columns,
            round=asked.round,
            truth=named["truth"],
            models=roles.labels,
            item=roles.item,
            validators=asked.validators,
            cost=asked.cost,
            weight=asked.weight,
            coerce=asked.coerce,
        )


def _check_long(table: Table, columns: LogColumns) -> None:
    """Refuse columns that are absent, named twice or of mixed types, as every verb does."""
    from tallystick import io

    others = {role: column for role, column in columns.long.items() if role != "correct"}
    io.assign(
        table,
        io.ColumnOptions(
            by=columns.by, labels=(columns.correct,), others=others, coerce=columns.coerce
        ),
    )


def _wide_roles(table: Table, columns: LogColumns) -> Roles:
    """Say which columns of a wide log are models' answers."""
    from tallystick import io

    if columns.truth is None:
        raise InputError(
            f"{table.source} has no columns model and correct, so it is wide: name the true label"
            " (--truth)"
        )
    roles = io.assign(
        table,
        io.ColumnOptions(
            item=columns.item,
            truth=columns.truth,
            by=columns.by,
            labels=(*columns.chain, *columns.models) if columns.models else (),
            others=columns.beside,
            coerce=columns.coerce,
        ),
    )
    tell(roles.notes)
    return roles


def _cells(table: Table, named: dict[str, str], missing: tuple[str, ...]) -> dict[str, list[Any]]:
    """Read columns by role, each as a list, None where a value is missing; a weight is no answer,
    so it never is.
    """
    from tallystick.values.missing import without_missing

    kinds = table.kinds
    cells = ", ".join(
        without_missing(column, kinds[column], () if role == "weight" else missing)
        for role, column in named.items()
    )
    rows = table.query(f"select {cells} from rows")
    return {role: [row[k] for row in rows] for k, role in enumerate(named)}
