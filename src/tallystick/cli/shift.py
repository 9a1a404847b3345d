"""``tallystick shift``: how did this API change, for few paid calls."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.cli.deliver import deliver, leave_by_gates, tell
from tallystick.cli.options import Alpha, AsJson, By, Coerce, Html, Item, ItemsOut, Missing, Seed
from tallystick.cli.slices import MOST_SLICES
from tallystick.errors import FileError, InputError, TallystickError
from tallystick.results import (
    Gate,
    GateEstimate,
    Interval,
    Needed,
    Slice,
    check_gates,
    parse_gate,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tallystick.shift import Items, Progress, ShiftResult, Wire
    from tallystick.clients import Client
    from tallystick.shift.design import Strategy

__all__ = ["shift"]


class StrategyChoice(StrEnum):
    """How to choose what to ask."""

    ours = "ours"
    masa = "masa"
    uniform = "uniform"
    proportional = "proportional"
    equal = "equal"


def shift(
    data: Annotated[
        str,
        typer.Option("--data", help="Table of items: CSV, TSV, NDJSON, Parquet, Arrow (.gz too)."),
    ],
    truth: Annotated[str, typer.Option("--truth", help="Column of true labels.")],
    api: Annotated[
        str,
        typer.Option(
            "--api",
            help="https://…, openai:MODEL@URL, python:MODULE:FUNCTION, command:…, replay:COLUMN.",
        ),
    ],
    budget: Annotated[
        int, typer.Option("--budget", min=1, help="Questions at most: a hard limit.")
    ],
    old: Annotated[str | None, typer.Option("--old", help="Column of old answers.")] = None,
    old_file: Annotated[
        str | None, typer.Option("--old-file", help="Table that holds --old, joined by --item.")
    ] = None,
    old_matrix: Annotated[
        Path | None,
        typer.Option(
            "--old-matrix", help="Old confusion matrix, numbers as CSV, rows by true label."
        ),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option("--since", help="Journal of the last run: its answers replace the old ones."),
    ] = None,
    confidence: Annotated[
        str | None, typer.Option("--confidence", help="Column whose rank foretells change.")
    ] = None,
    labels: Annotated[
        list[str] | None, typer.Option("--labels", help="All labels, if the truth lacks some.")
    ] = None,
    other: Annotated[
        list[str] | None, typer.Option("--other", help="Old answers that mean: none of them.")
    ] = None,
    item: Item = None,
    by: By = None,
    missing: Missing = None,
    coerce: Coerce = False,
    strategy: Annotated[
        StrategyChoice, typer.Option("--strategy", help="How to choose.")
    ] = StrategyChoice.ours,
    bins: Annotated[
        int, typer.Option("--bins", min=1, help="Difficulty bins K (masa, proportional).")
    ] = 3,
    exploration: Annotated[float, typer.Option("--exploration", help="MASA's a.")] = 1.0,
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights", help="accuracy, 'TRUE>ANSWERED', or a matrix file: which errors matter."
        ),
    ] = None,
    target_error: Annotated[
        float | None,
        typer.Option("--target-error", help="Stop when the Frobenius error is below this."),
    ] = None,
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            help="'flip_rate <= .01', 'accuracy_change >= -.02', … : exit 10 fails, 11 undecided.",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=0, help="Ask so many items twice: the noise floor.")
    ] = 0,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="Intervals of all cells hold together.")
    ] = False,
    request: Annotated[
        str | None,
        typer.Option("--request", help='JSON template, or @FILE: \'{"text": "{review}"}\'.'),
    ] = None,
    label_path: Annotated[
        str, typer.Option("--label-path", help="JSONPath of the label in the reply.")
    ] = "$.label",
    header: Annotated[
        list[str] | None, typer.Option("--header", help="'Name: value', keys as $NAME.")
    ] = None,
    prompt: Annotated[
        str | None, typer.Option("--prompt", help="Prompt template, or @FILE ({labels} works).")
    ] = None,
    key_name: Annotated[
        str, typer.Option("--key-name", help="Environment variable of the key.")
    ] = "OPENAI_API_KEY",
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="Requests in flight.")
    ] = 8,
    timeout: Annotated[float, typer.Option("--timeout", help="Seconds a request may take.")] = 60.0,
    attempts: Annotated[int, typer.Option("--attempts", min=1, help="Tries an item.")] = 5,
    rate: Annotated[float | None, typer.Option("--rate", help="Requests a second at most.")] = None,
    price: Annotated[float, typer.Option("--price", help="What a request costs.")] = 0.0,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", help="Money at most: a hard limit.")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal", help="Keeps every answer; the same command resumes a killed run."
        ),
    ] = None,
    durable: Annotated[
        bool, typer.Option("--durable", help="Force each answer to the disk.")
    ] = False,
    history: Annotated[
        Path | None, typer.Option("--history", help="Append this assessment; says how it went.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Forecast calls, money and time; ask nothing.")
    ] = False,
    latency: Annotated[
        float, typer.Option("--latency", help="Seconds a call takes, for --dry-run.")
    ] = 1.0,
    items_out: ItemsOut = None,
    seed: Seed = 0,
    alpha: Alpha = 0.05,
    html: Html = None,
    as_json: AsJson = False,
) -> None:
    """Assess how an API changed, for the fewest paid calls.

    Give the old answer to every item (--old) if you have them: they are worth more than anything
    else.
    """
    from tallystick import shift as capability
    from tallystick.shift.gate import check_metric
    from tallystick.shift.table import Columns, read_items, read_matrix

    columns = Columns(
        truth=truth,
        item=item,
        old=old,
        confidence=confidence,
        labels=_split(labels),
        other=_split(other),
        missing=_split(missing),
        replay=api.removeprefix("replay:") if api.startswith("replay:") else None,
        coerce=coerce,
    )
    items, rows, notes = read_items(data, columns, old_file=old_file, matrix=old_matrix)
    tell(notes)
    if items.matrix is None:
        raise InputError(
            "nothing is known of the past: name the old answers (--old) or the old matrix"
            " (--old-matrix)"
        )
    if since is not None:
        items = capability.update_old(items, since)
    parts = {} if by is None else _parts(rows, by, items)
    chosen: Strategy = strategy.value
    if chosen == "ours" and items.old is None:
        chosen = "masa"
        tell(["without old answers by item (--old) the strategy is masa"])
    matrix = None
    if weights is not None and weights != "accuracy" and ">" not in weights:
        matrix = tuple(tuple(map(float, row)) for row in read_matrix(Path(weights)))
    condition = None if gate is None else parse_gate(gate)
    if condition is not None and condition.right is not None:
        raise InputError(
            "a gate of shift compares a metric with a number, e.g. 'flip_rate <= 0.01', got"
            f" {gate!r}"
        )
    if condition is not None:
        check_metric(condition.left, items)
    _check_outputs(items_out, history, html)
    limit = None
    if condition is not None and condition.left == "flip_rate" and condition.relation == "<=":
        limit = condition.offset
        if chosen != "ours":
            raise InputError(
                f"a gate on flip_rate asks in random order: it needs strategy ours, got {chosen}"
            )
    how = capability.Run(
        budget=budget,
        how=capability.Design(
            strategy=chosen, bins=bins, exploration=exploration, weights=matrix or weights
        ),
        wire=capability.Wire(
            concurrency=concurrency,
            timeout=timeout,
            attempts=attempts,
            rate=rate,
            price=price,
            max_cost=max_cost,
        ),
        seed=seed,
        alpha=alpha,
        simultaneous=simultaneous,
        repeats=repeats,
        flip_limit=limit,
        target_error=target_error,
        journal=journal,
        durable=durable,
        coerce=coerce,
    )
    if chosen == "masa":
        tell(
            capability.theorem_conditions(
                labels=len(items.labels),
                bins=bins,
                calls=min(budget, len(items)),
                exploration=exploration,
            )
        )
    if dry_run:
        deliver(capability.forecast(items, how, latency=latency), as_json=as_json, html=html)
        return
    client = _client(
        api, items, list(rows[0]), request, label_path, header or [], prompt, key_name, how.wire
    )
    with _progress() as show:
        result = capability.run(items, client, rows, how, progress=show)
    if condition is not None:
        result = _judged(result, condition)
    if history is not None:
        capability.append_history(history, result, on=datetime.now(UTC).date())
        tell([capability.read_history(history).verdict])
    if items_out is not None:
        from tallystick import io

        io.write_csv(items_out, result.asked)
    deliver(result, as_json=as_json, slices=_slices(result, parts, alpha), html=html)
    if result.gates:
        leave_by_gates(result.gates)


def _check_outputs(items_out: Path | None, history: Path | None, html: Path | None) -> None:
    """Refuse a file that cannot be written before any call is paid for."""
    from tallystick.io import check_ending

    if items_out is not None:
        check_ending(items_out)
    for option, path in (("--items-out", items_out), ("--history", history), ("--html", html)):
        if path is None:
            continue
        reason = (
            "it is a folder"
            if path.is_dir()
            else (
                "its folder does not exist"
                if not path.parent.is_dir()
                else (
                    "it may not be written"
                    if not os.access(path if path.exists() else path.parent, os.W_OK)
                    else None
                )
            )
        )
        if reason is not None:
            raise FileError(f"{option} {path} cannot be written: {reason}; nothing was asked yet")
    if history is not None and history.exists() and history.stat().st_size:
        from tallystick.shift import read_history

        read_history(history)


def _split(options: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(piece.strip() for option in options or () for piece in option.split(","))


def _parts(rows: Sequence[Mapping[str, Any]], by: str, items: Items) -> dict[Any, list[bool]]:
    """Return which items belong to each slice; asked before any call is paid for, so that a mistake
    costs nothing.
    """
    if by not in rows[0]:
        raise InputError(
            f"--by: there is no column {by!r} (columns: {', '.join(list(rows[0])[:12])})"
        )
    if items.old is None:
        raise InputError(
            "--by needs the old answer to every item (--old): a matrix of the past says nothing of"
            " slices"
        )
    values = [None if row[by] != row[by] else row[by] for row in rows]  # NaN is blank, too
    found = sorted(set(values), key=lambda value: (value is None, str(type(value)), value))
    if len(found) > MOST_SLICES:
        raise InputError(
            f"column {by!r} has {len(found):,} values, at most {MOST_SLICES} make slices: group"
            " them first"
        )
    return {label: [value == label for value in values] for label in found}


def _slices(
    result: ShiftResult, parts: Mapping[Any, list[bool]], alpha: float
) -> tuple[Slice, ...]:
    """Assess every slice by the calls of the whole run, at ``alpha`` over the number of slices."""
    from tallystick.shift import part_of

    found = []
    for label, chosen in parts.items():
        try:
            found.append(Slice(label, part_of(result, chosen, alpha=alpha / len(parts))))
        except TallystickError as error:
            found.append(Slice(label, str(error)))
    return tuple(found)


def _judged(result: ShiftResult, condition: Gate) -> ShiftResult:
    """Put the gate into the result: what the sequential test decided, or what the interval says."""
    from dataclasses import replace

    from tallystick.shift import metric_estimate
    from tallystick.shift.result import ShiftGate

    def measured(one: Gate) -> GateEstimate:
        return metric_estimate(result, one.left)

    [outcome] = check_gates([condition], margin=measured)
    gate = result.gate
    if gate is None:
        interval = outcome.interval
        rests = (
            f"its {100 * interval.level:g} % interval ({interval.promise})"
            if isinstance(interval, Interval)
            else interval.reason
        )
        gate = ShiftGate(expression=str(condition), passed=outcome.passed, rests_on=rests)
    else:  # a test that watched the run while it went on decides, not the interval at its end
        outcome = replace(outcome, passed=gate.passed)

    word = {True: "holds", False: "fails", None: "could not be decided"}[gate.passed]
    verdict = f"The gate {gate.expression} {word}. {result.verdict}"
    decided = gate.passed is not None
    return replace(
        result,
        gate=gate,
        gates=(outcome,),
        verdict=verdict,
        decision="decided" if decided else "undecided",
        needed=None if decided else Needed(None, "calls"),
    )


def _client(
    api: str,
    items: Items,
    columns: list[str],
    request: str | None,
    label_path: str,
    headers: list[str],
    prompt: str | None,
    key_name: str,
    wire: Wire,
) -> Client:
    from tallystick.shift import clients
    from tallystick.clients.template import parse_json

    kind, _, target = api.partition(":")
    if kind == "replay":
        return clients.ReplayClient(target, columns=columns)
    if kind == "python":
        return clients.PythonClient(target)
    if kind == "command":
        return clients.CommandClient(target, timeout=wire.timeout)
    if kind == "openai":
        if prompt is None:
            raise InputError(
                "openai: needs a prompt: --prompt 'Is this review positive? {review} Answer:"
                " {labels}.'"
            )
        return clients.OpenAIClient(
            target,
            prompt=_text(prompt),
            labels=items.labels,
            columns=columns,
            key_name=key_name,
            timeout=wire.timeout,
        )
    if kind in ("http", "https"):
        if request is None:
            raise InputError(
                'an HTTP API needs a request template: --request \'{"text": "{review}"}\''
            )
        return clients.HttpClient(
            api,
            request=parse_json(_text(request), "--request"),
            label=label_path,
            headers=_headers(headers),
            columns=columns,
            timeout=wire.timeout,
        )
    raise InputError(f"--api wants https://…, openai:, python:, command: or replay:, got {api!r}")


def _text(option: str) -> str:
    """Return the option, or the content of the file that ``@FILE`` names."""
    if not option.startswith("@"):
        return option
    try:
        return Path(option[1:]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{option[1:]} cannot be read: {error}") from error


def _headers(options: list[str]) -> Mapping[str, str]:
    headers = {}
    for option in options:
        name, colon, value = option.partition(":")
        if not (name.strip() and colon):
            raise InputError("--header wants 'Name: value', with keys as $NAME")
        headers[name.strip()] = value.strip()
    return headers


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None] | None]:
    """Show a bar on a terminal: calls, money and the error so far. Elsewhere nothing."""
    import sys

    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    texts: tuple[Any, ...] = (
        TextColumn("{task.completed:,} of {task.total:,} calls"),
        BarColumn(),
        TextColumn("cost {task.fields[cost]:.4g}, error ± {task.fields[error]}"),
        TimeRemainingColumn(),
    )
    with Progress(*texts, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1, cost=0.0, error="?")

        def show(now: Any) -> None:
            known: dict[str, Any] = {} if now.error is None else {"error": f"{now.error:.4f}"}
            bar.update(task, total=now.planned, completed=now.calls, cost=now.cost, **known)

        yield show
