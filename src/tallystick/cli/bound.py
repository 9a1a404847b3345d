"""``tallystick bound FILE``: between what the metric of a classifier lies, given only weak
labels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.cli.deliver import deliver
from tallystick.cli.options import (
    Alpha,
    AsJson,
    By,
    Coerce,
    Delimiter,
    Html,
    Input,
    Item,
    ItemsOut,
    Missing,
    Seed,
    Weight,
)
from tallystick.cli.reading import ROWS_COUNT, Layout, opened, rests_on, write_items
from tallystick.cli.saved import is_saved, load_saved
from tallystick.errors import InputError

if TYPE_CHECKING:
    from tallystick.bound import BoundResult, LabelModel, Question
    from tallystick.io import Roles, Table
    from tallystick.tally import Label, Tally

__all__ = ["bound"]

_THRESHOLDS = ",".join(f"{k / 20:g}" for k in range(1, 20))


def bound(
    source: Input,
    prediction: Annotated[
        str | None, typer.Option("--prediction", help="Column of predictions.")
    ] = None,
    score: Annotated[
        str | None, typer.Option("--score", help="Column of scores in [0, 1], swept by threshold.")
    ] = None,
    thresholds: Annotated[
        str, typer.Option("--thresholds", help="With --score: T,T,… in (0, 1).")
    ] = _THRESHOLDS,
    weak: Annotated[
        list[str] | None,
        typer.Option("--weak", help="Columns of weak labels; repeat, or use commas and globs."),
    ] = None,
    truth: Annotated[
        str | None, typer.Option("--truth", help="Column of true labels; may be partly blank.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="accuracy, precision, recall, f1, macro-…, micro-f1 or risk; repeat for more.",
        ),
    ] = None,
    positive: Annotated[
        str | None, typer.Option("--positive", help="The class of precision, recall and F1.")
    ] = None,
    cost: Annotated[
        Path | None,
        typer.Option(
            "--cost", help="For risk: a table with a column 'prediction' and one a true class."
        ),
    ] = None,
    label_model: Annotated[
        list[str] | None,
        typer.Option(
            "--label-model",
            help="labels, majority, dawid-skene, triplet or a file; repeat for more.",
        ),
    ] = None,
    class_balance: Annotated[
        str | None,
        typer.Option(
            "--class-balance", help="P,P,… in the order of the classes, where it is known."
        ),
    ] = None,
    fit: Annotated[
        str | None, typer.Option("--fit", help="Fit the label models on this file instead.")
    ] = None,
    abstentions_vote: Annotated[
        bool,
        typer.Option(
            "--abstentions-vote", help="An abstention says something of the class (keyword rules)."
        ),
    ] = False,
    delta: Annotated[
        float, typer.Option("--delta", help="How wrong P(Y|Z) may be on average.")
    ] = 0.0,
    at_least: Annotated[
        float | None,
        typer.Option("--at-least", help="A claim to prove: the first metric is at least this."),
    ] = None,
    item: Item = None,
    weight: Weight = None,
    by: By = None,
    missing: Missing = None,
    coerce: Coerce = False,
    delimiter: Delimiter = None,
    alpha: Alpha = 0.05,
    seed: Seed = 0,
    items_out: ItemsOut = None,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Bound the accuracy (or precision, recall, F1, risk) of a classifier never tested on true
    labels.

    Weak labels are cheap votes on the same rows: rules, other models, LLM judges. A blank vote is
    an abstention.
    """
    from tallystick.bound import Fitting, Question, edges_of
    from tallystick.cli.slices import by_slice
    from tallystick.io import ColumnOptions, Roles

    if (prediction is None) == (score is None):
        raise InputError(
            "name the column to judge: --prediction for labels, or --score for numbers in [0, 1]"
        )
    judged = {"prediction": prediction} if prediction is not None else {"score": score or ""}
    options = ColumnOptions(
        item=item,
        truth=truth,
        weight=weight,
        by=by,
        labels=tuple(weak or ()),
        others=judged,
        missing=tuple(missing or ()),
        coerce=coerce,
    )
    question = Question(
        metrics=tuple(metric or ("accuracy",)),
        positive=positive,
        cost=None if cost is None else [[0.0]],  # read below, when the classes are known
        delta=delta,
        at_least=at_least,
        alpha=alpha,
    )
    fitting = Fitting(
        balance=None if class_balance is None else _numbers("--class-balance", class_balance),
        abstain="is a vote" if abstentions_vote else "auto",
    )
    job = partial(
        _Job,
        prediction=prediction,
        score=score,
        edges=edges_of(_numbers("--thresholds", thresholds)) if score is not None else (),
        question=question,
        fitting=fitting,
        models=tuple(label_model or ("dawid-skene",)),
        cost=cost,
        truth=truth,
        fit=fit,
        seed=seed,
    )
    if is_saved(source):
        rows_only = {"--by": by, "--weight": weight, "--items-out": items_out, "--missing": missing}
        tally, labels = load_saved(
            source, columns=weak or (), beside=[prediction or score, truth], rows_only=rows_only
        )
        result = job(roles=Roles(labels=labels, truth=truth)).answer(tally, alpha)
        deliver(result, as_json=as_json, html=html)
        return
    with opened(source, Layout(item=item, delimiter=delimiter), options, truth_in=fit) as (
        table,
        roles,
    ):
        whole = job(roles=roles)
        result = whole.run(table, alpha)
        # a class that a slice does not show can be the truth there
        run = replace(whole, classes=result.classes).run
        slices = by_slice(table, by, run, alpha=alpha) if by is not None else ()
        if items_out is not None:
            write_items(items_out, result, table)
        deliver(result, as_json=as_json, slices=slices, html=html, table=table)


@dataclass(frozen=True, kw_only=True)
class _Job:
    """What was asked, to be answered for the whole table and for each slice."""

    prediction: str | None
    score: str | None
    edges: tuple[float, ...]
    roles: Roles
    question: Question
    fitting: object
    models: tuple[str, ...]
    cost: Path | None
    truth: str | None
    fit: str | None
    seed: int
    classes: tuple[Label, ...] | None = None

    def count(self, table: Table, *, judged: bool) -> Tally:
        from tallystick.tally import Tally

        columns = [*self.roles.labels]
        if self.truth is not None and self.truth in table.columns:
            columns.append(self.truth)
        if judged:
            columns.append(self.prediction or self.score or "")
        return Tally.of(
            table,
            columns=columns,
            cut={self.score: self.edges} if judged and self.score is not None else None,
            weight=self.roles.weight if self.roles.weight in table.columns else None,
            missing=self.roles.missing,
            coerce=self.roles.coerce,
        )

    def run(self, table: Table, alpha: float) -> BoundResult:
        if self.score is not None:
            _within_one(table, self.score)
        found = self.answer(self.count(table, judged=True), alpha)
        return found if self.roles.weight is None else rests_on(found, ROWS_COUNT)

    def answer(self, tally: Tally, alpha: float) -> BoundResult:
        from tallystick.bound import evaluate, sweep, weak_table
        from tallystick.bound.label_models import read
        from tallystick.bound.prepared import NAMES, Fitting, fitted
        from tallystick.bound.weak_votes import refuse_silence_as_class

        other = None if self.fit is None else self._other(self.fit)
        if self.classes is None:
            shown = [
                name
                for name in (self.prediction, self.truth)
                if name is not None and name in tally.names
            ]
            refuse_silence_as_class(tally, self.roles.labels, shown)
        classes = self._classes(tally, other) if self.classes is None else self.classes
        truth = self.truth if other is None or self._labels(tally) else None
        weak = self.roles.labels
        fitting = self.fitting if isinstance(self.fitting, Fitting) else Fitting()
        sample = tally if other is None else other
        there = self.truth if self._labels(sample) else None
        if self.fit is not None and self.truth is not None and truth is None and there is None:
            raise InputError(
                f"neither the input nor {self.fit} has a label in column {self.truth!r}: name the"
                " column that has them, or leave out --truth"
            )
        table_of_votes = weak_table(sample, weak=weak, truth=there, classes=classes)
        models: list[str | LabelModel] = []
        for name in self.models:
            if name not in NAMES:
                models.append(read(table_of_votes, name))
            else:
                models.append(name if other is None else fitted(name, table_of_votes, fitting))
        question = replace(self.question, alpha=alpha)
        if self.cost is not None:
            question = replace(question, cost=_cost(self.cost, classes))
        if self.score is not None:
            return sweep(
                tally,
                score=self.score,
                weak=weak,
                truth=truth,
                classes=classes,
                label_models=models,
                question=question,
                fitting=fitting,
                rng=self.seed,
            )
        return evaluate(
            tally,
            prediction=self.prediction or "",
            weak=weak,
            truth=truth,
            classes=classes,
            label_models=models,
            question=question,
            fitting=fitting,
            rng=self.seed,
        )

    def _labels(self, tally: Tally) -> bool:
        """Say whether the tally shows a true label."""
        return self.truth in tally.names and any(
            label is not None for label in tally.labels[self.truth or ""]
        )

    def _other(self, path: str) -> Tally:
        from tallystick import io

        with io.scan(path) as table:
            lacking = [name for name in self.roles.labels if name not in table.columns]
            if lacking:
                raise InputError(
                    f"{path} has no column {lacking[0]!r}: --fit needs the same weak labels"
                )
            return self.count(table, judged=False)

    def _classes(self, tally: Tally, other: Tally | None) -> tuple[Label, ...]:
        from tallystick.values.label import in_order

        found: list[Label] = []
        for one in (tally, other):
            if one is not None:
                found += [
                    label for name in one.names if name != self.score for label in one.labels[name]
                ]
        return in_order(label for label in found if label is not None)


def _within_one(table: Table, score: str) -> None:
    """Refuse a score that is not in [0, 1], with its range."""
    from tallystick import io

    column = io.identifier(score)
    [(low, high)] = table.query(
        f"select min(try_cast({column} as double)), max(try_cast({column} as double)) from rows"
    )
    if low is not None and not 0 <= low <= high <= 1:
        raise InputError(
            f"--score {score} goes from {low:g} to {high:g}: a score lies in [0, 1]; rescale it, or"
            " give --prediction"
        )


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(piece) for piece in text.split(",")]
    except ValueError:
        raise InputError(f"{option} wants numbers with commas between them, got {text!r}") from None


def _cost(path: Path, classes: tuple[Label, ...]) -> list[list[float]]:
    """Read a cost matrix: one row a prediction, one column a true class."""
    from tallystick import io

    names = [str(c) for c in classes]
    with io.scan(str(path)) as table:
        lacking = [name for name in ("prediction", *names) if name not in table.columns]
        if lacking:
            raise InputError(
                f"{path} has no column {lacking[0]!r}: a cost table has 'prediction' and one a"
                f" class {names}"
            )
        columns = ", ".join(io.identifier(name) for name in ("prediction", *names))
        rows = [(str(row[0]), row[1:]) for row in table.query(f"select {columns} from rows")]
    found = dict(rows)
    shown = [name for name, _ in rows]
    twice = [name for name in found if shown.count(name) > 1]
    if twice:
        raise InputError(
            f"{path} has {shown.count(twice[0])} rows for the prediction {twice[0]!r}: keep the one"
            " that is meant"
        )
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(
            f"{path} has no row for the prediction {missing[0]!r}: give one a class {names}"
        )
    try:
        return [[float(cell) for cell in found[name]] for name in names]
    except (TypeError, ValueError):
        raise InputError(f"{path}: costs must be numbers") from None
