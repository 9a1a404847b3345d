"""A result in the terminal: the verdict first, then a table; plain text where nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TextIO

from tallystick.report.shorten import shorten
from tallystick.results import Result, harmless

__all__ = ["show"]

MOST_ROWS = 40


def show(result: Result, *, slices: Sequence[Any] = (), stream: TextIO | None = None) -> None:
    """Print *result*: with colour and a drawn table in a terminal, as its plain summary when piped (NO_COLOR holds)."""
    target = stream if stream is not None else sys.stdout
    if not target.isatty():
        lines = [result.summary(), *(["By slice:"] if slices else []), *(f"  {harmless(str(part))}" for part in slices)]
        target.write("\n".join(lines) + "\n")
        return
    from rich.console import Console
    from rich.markup import escape as without_markup
    from rich.table import Table

    def escape(text: str) -> str:
        return without_markup(harmless(text))

    console = Console(file=target, highlight=False)
    console.print(f"[bold]{escape(result.verdict)}[/bold]")
    if result.needed is not None:
        console.print(f"To settle it: {escape(str(result.needed))}.")
    rows = result.to_frame().slice(0, MOST_ROWS).to_pylist()
    if rows:
        table = Table(box=None, header_style="dim", pad_edge=False)
        for name in rows[0]:
            table.add_column(escape(name), overflow="fold")
        for row in rows:
            table.add_row(*(escape(_cell(value)) for value in row.values()))
        console.print(table)
        if len(result.rows()) > len(rows):
            console.print(f"… the first {len(rows)} of {len(result.rows()):,} rows", style="dim")
    for part in slices:
        console.print(f"  {escape(str(part))}")
    for text in result.assumptions:
        console.print(f"Rests on: {escape(text)}", style="dim")
    for text in result.warnings:
        console.print(f"Warning: {escape(text)}", style="yellow")


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else shorten(str(value), 60)
