"""Say a result: text or one JSON object on stdout, files beside it, messages on stderr."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.cli.outputs import check_outputs
from tallystick.errors import FileError
from tallystick.results import Result, harmless, to_json
from tallystick.results.export import markdown

if TYPE_CHECKING:
    from tallystick.data import Capability, Cases, Data, ItemTable

__all__ = ["Delivery", "deliver", "tell"]


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """Where a result goes.

    Parameters
    ----------
    as_json
        One JSON object on stdout instead of text.
    html, summary, junit
        Files for the page, for Markdown (appended) and for JUnit XML; None for none.
    items_out
        A file for the items with what was learnt of each.
    no_text
        Leave the texts of items out of the page, for instance before it is shared.
    """

    as_json: bool = False
    html: Path | None = None
    summary: Path | None = None
    junit: Path | None = None
    items_out: Path | None = None
    no_text: bool = False

    def files(self) -> dict[str, Path]:
        """Return the files that will be written, option to path."""
        held = {one.name: getattr(self, one.name) for one in fields(self)}
        return {f"--{name.replace('_', '-')}": p for name, p in held.items() if isinstance(p, Path)}

    def check(self, source: Sequence[str | Path], **more: Path | None) -> None:
        """Refuse, before any work is done, outputs that would overwrite something.

        *more* are outputs of this verb alone, by the name of their option.
        """
        named = {f"--{name.replace('_', '-')}": path for name, path in more.items()}
        given = {option: path for option, path in named.items() if path is not None}
        check_outputs({**given, **self.files()}, [one for one in source if one != "-"])


def tell(messages: Iterable[str]) -> None:
    """Write messages for a person to stderr, one per line."""
    for message in messages:
        sys.stderr.write(f"{harmless(message)}\n")


def deliver(
    result: Result,
    delivery: Delivery | None = None,
    *,
    data: Data | None = None,
    capability: Capability[Any] | None = None,
    cases: Callable[..., Cases | None] | None = None,
) -> None:
    """Write the files, then print the result and make sure that it arrived.

    If a file cannot be written, the answer is printed before the error: it may have been paid for.
    """
    to = delivery or Delivery()
    failed: FileError | None = None
    behind = cases or (None if capability is None else capability.cases)
    for write in _writers(result, to, data, capability, behind):
        try:
            write()
        except FileError as error:
            failed = failed or error

    if to.as_json:
        sys.stdout.write(to_json(result.to_dict()) + "\n")
    else:
        from tallystick.report import show

        show(result)
    # A closed pipe shows here, inside the verb, and not at the interpreter's end.
    sys.stdout.flush()
    if failed is not None:
        raise failed


def _writers(
    result: Result,
    to: Delivery,
    data: Data | None,
    capability: Capability[Any] | None,
    behind: Callable[..., Cases | None] | None,
) -> list[Callable[[], None]]:
    found: list[Callable[[], None]] = []
    if to.items_out is not None and data is not None:
        items_out = to.items_out
        learnt = (capability.items if capability is not None else None) or _attached
        found.append(lambda: _write_items(items_out, learnt(result, data)))
    if to.html is not None:
        html = to.html
        found.append(lambda: _write_page(html, result, data, _cases(result, to, data, behind)))
    if to.summary is not None:
        summary = to.summary
        found.append(lambda: _append(summary, _markdown(result)))
    if to.junit is not None:
        junit = to.junit
        found.append(lambda: _replace(junit, result.to_junit()))
    return found


def _markdown(result: Result) -> str:
    """Return the verdict, the main table and the gates, for the summary page of a build."""
    parts = [f"**{harmless(result.verdict)}**", result.to_markdown()]
    if result.gates:
        words = {True: "passed", False: "failed", None: "undecided"}
        parts.append(
            markdown(
                [
                    {
                        "gate": gate.expression,
                        "outcome": words[gate.passed],
                        "estimate": gate.estimate,
                        "interval": gate.interval,
                    }
                    for gate in result.gates
                ]
            )
        )
    return "\n\n".join(parts) + "\n\n"


def _attached(result: Result, data: Data) -> Mapping[str, Any]:
    """Put what the result learnt of each vote pattern beside the rows."""
    from tallystick.tally import attach

    attached = attach(result, data.table)
    return {name: attached[name] for name in attached.column_names}


def _write_items(path: Path, learnt: Mapping[str, Any] | ItemTable) -> None:
    from tallystick.data import ItemTable
    from tallystick.io import write_csv

    if isinstance(learnt, ItemTable):
        tell(learnt.notes)
        learnt = learnt.columns
    write_csv(path, learnt)


def _cases(
    result: Result, to: Delivery, data: Data | None, behind: Callable[..., Cases | None] | None
) -> Cases | None:
    """Return the items behind the claim, where the capability knows them."""
    if data is None or behind is None:
        return None
    return behind(result, data, texts=not to.no_text)


def _write_page(path: Path, result: Result, data: Data | None, cases: Cases | None) -> None:
    from tallystick.cli.next_step import next_command
    from tallystick.report import Provenance, write_page

    # A result that knows its own command, as the terminal shows it, has no other on the page.
    own = getattr(result, "label_command", None)
    if own is not None and not result.opening.next:
        own = ""
    provenance = Provenance(
        command=shlex.join(["tallystick", *sys.argv[1:]]),
        digests=data.digests() if data is not None else {},
        next_command=next_command(result, sys.argv[1:]) if own is None else own,
    )
    write_page(path, result, provenance=provenance, cases=cases)
    tell([f"report: {path}"])


def _append(path: Path, text: str) -> None:
    try:
        with path.open("a", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}") from error


def _replace(path: Path, text: str) -> None:
    from tallystick.io import atomic

    with atomic(path) as stream:
        stream.write(text.encode("utf-8"))
