"""What a stream knows of how its labels were chosen, and a reader must know of an answer.

The command line sees rows and labels. A stream also knows which rows could have been drawn, which
draws people could not answer, and which labels nobody drew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from tallystick.data.cautions import Caution, with_cautions
from tallystick.results import Result, percent
from tallystick.serve.rows import StreamBook, beyond_reach
from tallystick.serve.span import Span
from tallystick.serve.store import Reader

__all__ = ["LabelDoubts", "label_doubts"]

_R = TypeVar("_R", bound=Result)

_FEW = 0.02
"""The share of draws without a label that leaves an answer decided: no rate can move by more."""


@dataclass(frozen=True, kw_only=True)
class LabelDoubts:
    """Cautions about the labels behind an answer, and whether they leave it open."""

    cautions: Sequence[Caution] = ()
    unsettled: bool = False

    def on(self, result: _R) -> _R:
        """Return *result* with the cautions, before those that the rows gave rise to."""
        if not self.cautions:
            return result
        others = result.warnings
        result = with_cautions(replace(result, warnings=()), self.cautions)
        decision = result.decision
        if self.unsettled and decision == "decided":
            decision = "undecided"
        return replace(result, warnings=(*result.warnings, *others), decision=decision)


def label_doubts(reader: Reader, book: StreamBook, span: Span) -> LabelDoubts:
    """Return what must be said of the labels behind an answer about a span."""
    if book.way == "all":
        return _undrawn(reader, book)
    found: list[Caution] = []
    late = _late(reader, book, span)
    if late is not None:
        found.append(late)
    lost, share = _lost(reader, book, span)
    if lost is not None:
        found.append(lost)
    aside = _aside(book, span)
    if aside is not None:
        found.append(aside)
    return LabelDoubts(cautions=found, unsettled=late is not None or share > _FEW)


def _late(reader: Reader, book: StreamBook, span: Span) -> Caution | None:
    """Warn of rows that no draw could have taken."""
    beyond = sum(beyond_reach(reader, book, span).values())
    if not beyond:
        return None
    return Caution(
        warning=(
            f"{beyond:,} rows of this window came after the last draw that was labelled, or were"
            " in none. No label speaks for them, and these figures leave them out: draw again"
        )
    )


def _lost(reader: Reader, book: StreamBook, span: Span) -> tuple[Caution | None, float]:
    """Warn of draws that people read and that have no truth; return their share, too."""
    states: dict[str, int] = {}
    if book.chances.skipped or book.chances.disagreed:
        for state, bucket, slice_, n in reader.all(
            "select d.state, r.bucket, r.slice, count(*) from draw d join frame f on f.id = d.frame"
            " join rows r on r.id = d.row_id where f.stream = ? group by 1, 2, 3",
            (book.stream.id,),
        ):
            if span.covers(bucket) and span.holds(book.slices[slice_]):
                states[state] = states.get(state, 0) + int(n)
    skipped, disagreed = states.get("skipped", 0), states.get("disagreed", 0)
    lost = skipped + disagreed
    if not lost:
        return None, 0.0
    share = lost / (lost + states.get("answered", 0))
    reasons = [f"on {disagreed:,} two people disagree"] if disagreed else []
    reasons += [f"{skipped:,} were skipped"] if skipped else []
    way = " A third answer settles a disagreement." if disagreed else ""
    return (
        Caution(
            warning=(
                f"{lost:,} of the {lost + states.get('answered', 0):,} drawn rows that were read"
                f" have no label: {' and '.join(reasons)}. Such rows are seldom like the others,"
                f" and any rate here may be off by up to {percent(share)}.{way}"
            ),
            assumption="drawn rows without a label are like those with one",
        ),
        share,
    )


def _aside(book: StreamBook, span: Span) -> Caution | None:
    """Say which labels are left out because nobody drew them."""
    rows = [book.chances.rows[one] for one in book.chances.volunteered]
    n = sum(span.covers(row.bucket) and span.holds(book.slices[row.slice]) for row in rows)
    if not n:
        return None
    return Caution(
        warning=(
            f"{n:,} labels are left out because nobody drew their rows: rows that people pick are"
            " seldom like the others. Draw rows to label (POST frames), or count every label as if"
            " it had been drawn at random (labels=all)"
        )
    )


def _undrawn(reader: Reader, book: StreamBook) -> LabelDoubts:
    """Name the assumption behind ``labels=all`` where it is one: some labels were not drawn."""
    picked = reader.one(
        "select count(distinct row_id) from label where stream = ? and current = 1"
        " and value is not null and (origin = 'volunteered' or exists"
        " (select 1 from frame where stream = ?))",
        (book.stream.id, book.stream.id),
    )
    if picked is None or not picked[0]:
        return LabelDoubts()
    return LabelDoubts(
        cautions=[
            Caution(
                warning=(
                    "labels=all counts every label as if its row had been drawn at random, and"
                    " this stream has labels that people chose to give, or drew in another way"
                )
            )
        ]
    )
