"""``tallystick merge T… -o T``: add saved tallies, in any order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.deliver import deliver
from tallystick.cli.verb import output_options, sorted_options
from tallystick.cli.working import working
from tallystick.errors import MergeError
from tallystick.values import two_vocabularies

if TYPE_CHECKING:
    from tallystick.tally import Tally

__all__ = ["merge"]


def _run(tallies: tuple[str, ...], output: Path, allow_overlap: bool, **given: Any) -> None:
    """Add saved tallies into one; the order does not matter.

    Tallies that have counted the same file, stream, batch or rows are refused.
    """
    from tallystick.tally import describe

    _, delivery = sorted_options(given)
    delivery.check(tallies, output=output)
    with working("adding"):
        total, same = _total(tallies, allow_overlap=allow_overlap)
    result = describe(total)
    result = replace(result, warnings=(*result.warnings, *same, *_two_vocabularies(total)))
    total.save(output)
    deliver(result, delivery)


def _total(tallies: Sequence[str], *, allow_overlap: bool) -> tuple[Tally, tuple[str, ...]]:
    """Return the sum of saved tallies, and which of them are the same file."""
    from tallystick.tally import Tally

    parts = [Tally.load(path) for path in tallies]
    nameless = [path for path, part in zip(tallies, parts, strict=True) if not part.sources.names]
    same = _same(nameless)
    if same and not allow_overlap:
        raise MergeError(f"{same[0]}. Leave one out, or give --allow-overlap")

    total = Tally()
    for place, (path, part) in enumerate(zip(tallies, parts, strict=True)):
        if total.sources.clash(part.sources) is not None and not allow_overlap:
            first, clash = _clash(part, tallies[:place], parts) or (
                "the sum of the others",
                total.sources.clash(part.sources),
            )
            raise MergeError(
                f"{first} and {path} both count {clash}. Leave one tally out, or give"
                " --allow-overlap"
            )
        total = total.merge(part, allow_overlap=allow_overlap)
    return total, same


def _two_vocabularies(total: Tally) -> tuple[str, ...]:
    """Warn of columns that say right and wrong in two ways: the tables were written differently."""
    found = {name: two_vocabularies(labels) for name, labels in total.labels.items()}
    odd = {name: pairs for name, pairs in found.items() if pairs is not None}
    if not odd:
        return ()
    first, second = next(iter(odd.values()))
    columns = f"column{'s' * (len(odd) > 1)} {', '.join(odd)}"
    return (
        f"{columns}: the labels are {first}, and also {second}. If they mean the same, no verb can"
        " use this tally: write them alike in the tables, count them again, and merge those",
    )


def _clash(part: Tally, paths: Sequence[str], parts: Sequence[Tally]) -> tuple[str, str] | None:
    """Return the first tally that shares something with *part*, and what it is."""
    for path, other in zip(paths, parts, strict=False):
        clash = other.sources.clash(part.sources)
        if clash is not None:
            return path, clash
    return None


def _same(tallies: Sequence[str]) -> tuple[str, ...]:
    """Name files of one content: tallies of data in memory do not know what they counted."""
    seen: dict[str, str] = {}
    found = []
    for path in tallies:
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        if digest in seen:
            both = (
                f"{path} is given more than once"
                if seen[digest] == path
                else f"{seen[digest]} and {path} are byte for byte the same"
            )
            found.append(f"{both}: its rows are counted again")
        seen.setdefault(digest, path)
    return tuple(dict.fromkeys(found))


merge = click.Command(
    "merge",
    callback=_run,
    help=_run.__doc__,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=[
        click.Argument(["tallies"], nargs=-1, required=True, metavar="TALLY..."),
        click.Option(
            ["--output", "-o"],
            type=click.Path(path_type=Path),
            required=True,
            help="File for the merged tally.",
        ),
        click.Option(
            ["--allow-overlap"],
            is_flag=True,
            help="Add tallies that have counted the same rows; the result says so.",
        ),
        *output_options(items=False),
    ],
)
