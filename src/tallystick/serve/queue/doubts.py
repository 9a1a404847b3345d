"""What the way in which labels were chosen leaves open, said with every result of a stream.

The command line sees rows and cannot know who chose them. The service knows: which labels it drew
itself, which rows came after the draw, which draws people skipped or disagree on, and which labels
somebody gave to rows of their own choice. Each of these is an assumption, and is named as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tallystick.results import count
from tallystick.serve.queue.chances import Chances
from tallystick.serve.settings import StreamRecord
from tallystick.serve.span import Span
from tallystick.serve.store import Reader

__all__ = ["DrawDoubt", "label_doubts"]


GRAVE = 0.05
"""Share of rows, or of draws, from which a doubt leaves the decision open."""


@dataclass(frozen=True, kw_only=True)
class DrawDoubt:
    """Something that labels cannot tell, and what a result takes for granted because of it.

    A *grave* one leaves open what the figures seem to decide.
    """

    warning: str
    assumption: str
    grave: bool


def label_doubts(
    reader: Reader, stream: StreamRecord, known: Chances, span: Span, slices: Sequence[int]
) -> list[DrawDoubt]:
    """Return what a result about *span* takes for granted.

    Parameters
    ----------
    reader, stream
        Where the rows are.
    known
        How the labelled rows were chosen; without draws where every label counts as it came.
    span, slices
        The rows that are asked about, and the numbers of the slices that belong to it.
    """
    if not known.has_draws(span):
        return _as_they_came(reader, stream, span)
    found = [_beyond(reader, stream, known, span, slices), _unlabelled(reader, stream, span)]
    return [one for one in found if one is not None]


def _beyond(
    reader: Reader, stream: StreamRecord, known: Chances, span: Span, slices: Sequence[int]
) -> DrawDoubt | None:
    """Return the doubt about rows that no draw could take: those that came later, above all."""
    later = _later(reader, stream, known, span, slices)
    if not later:
        return None
    rows = "row was" if later == 1 else "rows were"
    return DrawDoubt(
        warning=(
            f"{count(later)} {rows} in no draw, because they came after the last one or lie outside"
            " its window. These figures take them to be like the rows that labels were drawn from."
            " Draw again to know"
        ),
        assumption="rows that were in no draw are like those that labels were drawn from",
        grave=later > GRAVE * stream.rows,
    )


def _later(
    reader: Reader, stream: StreamRecord, known: Chances, span: Span, slices: Sequence[int]
) -> int:
    """Return how many rows of a span were in no draw."""
    whole = [frame.as_of for frame in known.frames if frame.span == Span()]
    if whole:
        # Batches know how many rows they brought: the rows need not be read.
        [(after,)] = reader.all(
            "select coalesce(sum(new), 0) from batch where stream = ? and seq > ?",
            (stream.id, max(whole)),
        )
        if not after or span in (Span(), Span(labels=span.labels)):
            return int(after)
    where, values = span.condition()
    marks = ", ".join(map(str, slices)) or "-1"
    reach = []
    for frame in known.frames:
        inside, more = frame.span.condition()
        reach.append(f"(seq_first <= ?{inside})")
        values += [frame.as_of, *more]
    missed = f"not ({' or '.join(reach)})"
    sql = f"select count(*) from rows where stream = ?{where} and slice in ({marks}) and {missed}"
    if span.last is not None:
        sql = (
            "select count(*) from (select seq_first, bucket from rows where stream = ?"
            f" and slice in ({marks}) order by id desc limit ?) t where {missed}"
        )
        values = [span.last, *values]
    [(later,)] = reader.all(sql, (stream.id, *values))
    return int(later)


def _unlabelled(reader: Reader, stream: StreamRecord, span: Span) -> DrawDoubt | None:
    """Return the doubt about drawn rows that people have read and that have no label."""
    where, values = span.condition("r")
    states = dict(
        reader.all(
            "select d.state, count(*) from draw d join frame f on f.id = d.frame"
            f" join rows r on r.stream = f.stream and {reader.row_is('=', 'd.row_id')}"
            f" where f.stream = ?{where} group by d.state",
            (stream.id, *values),
        )
    )
    apart, skipped = states.get("disagreed", 0), states.get("skipped", 0)
    read = apart + skipped + states.get("answered", 0)
    if not apart + skipped:
        return None
    why = [
        *([f"people disagree on {count(apart)}"] if apart else []),
        *(
            [f"{count(skipped)} were skipped" if skipped > 1 else "1 was skipped"]
            if skipped
            else []
        ),
    ]
    way_out = " A third person can decide (open the label page)." if apart else ""
    return DrawDoubt(
        warning=(
            f"{count(apart + skipped)} of {count(read)} drawn rows that were read have no label:"
            f" {' and '.join(why)}. They are left out, and these are often the hard ones.{way_out}"
        ).removesuffix("."),
        assumption="drawn rows without a label are like those with one",
        grave=apart + skipped > GRAVE * read,
    )


def _as_they_came(reader: Reader, stream: StreamRecord, span: Span) -> list[DrawDoubt]:
    """Return the doubts about labels that nobody drew."""
    where, values = span.condition("r")
    [(chosen,)] = reader.all(
        "select count(distinct l.row_id) from label l join rows r on r.stream = l.stream"
        f" and {reader.row_is('=', 'l.row_id')}"
        " where l.stream = ? and l.current = 1 and l.value is not null"
        f" and l.origin = 'volunteered'{where}",
        (stream.id, *values),
    )
    if not chosen:
        return []
    noun = "label was" if chosen == 1 else "labels were"
    return [
        DrawDoubt(
            warning=(
                f"{count(chosen)} {noun} given to rows that somebody chose. They count as if the"
                " rows had been drawn at random. Let the service draw rows to know"
            ),
            assumption="rows that people chose to label are like the others",
            grave=True,
        )
    ]
