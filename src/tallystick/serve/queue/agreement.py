"""What a stream's labels say of the people who gave them: agreement, pace, disagreements."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from tallystick.serve.settings import StreamRecord, find_stream
from tallystick.serve.store import Reader, Store

__all__ = ["OpenDisagreement", "People", "Person", "people", "people_of"]

Ends: TypeAlias = tuple[float, float]
"""The two ends of a 95 % interval."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """One person: how many labels and skips, and the seconds a label takes (median)."""

    name: str
    labels: int
    skips: int
    seconds: float | None
    last: float


@dataclass(frozen=True, kw_only=True)
class OpenDisagreement:
    """A row on which people disagree: who says what."""

    item: str
    system: str
    said: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class People:
    """The people of a stream.

    Parameters
    ----------
    people
        One entry per person, who labelled most first.
    twice, agreed
        Rows with labels of two people or more, and on how many of them the first two agree.
    share
        The exact interval of the share of agreement; None if nothing was read twice.
    kappa, kappa_interval
        Agreement beyond chance; None if it cannot be told.
    open
        Rows on which people disagree and nobody has decided.
    """

    people: tuple[Person, ...]
    twice: int
    agreed: int
    share: Ends | None
    kappa: float | None
    kappa_interval: Ends | None
    open: tuple[OpenDisagreement, ...]


def people(store: Store, args: dict[str, Any]) -> bytes:
    """Return the people of a stream as JSON: what the worker does."""
    with store.read() as reader:
        return msgspec.json.encode(people_of(reader, find_stream(reader, args["name"])))


def people_of(reader: Reader, stream: StreamRecord, *, most: int = 50) -> People:
    """Return what the labels of a stream say of the people who gave them."""
    rows = reader.all(
        "select row_id, annotator, value, seconds, at, origin from label where stream = ?"
        " and current = 1 and (value is not null or reason is not null) order by id",
        (stream.id,),
    )
    by_person: dict[str, list[tuple[str | None, float | None, float]]] = defaultdict(list)
    by_row: dict[int, list[str]] = defaultdict(list)
    for row, person, value, seconds, at, _ in rows:
        by_person[person].append((value, seconds, at))
        if value is not None:
            by_row[row].append(value)
    pairs = [(said[0], said[1]) for said in by_row.values() if len(said) > 1]
    agreed = sum(a == b for a, b in pairs)
    kappa, reach = _kappa(pairs)
    return People(
        people=tuple(
            sorted(
                (_person(name, said) for name, said in by_person.items()),
                key=lambda one: (-one.labels, one.name),
            )
        ),
        twice=len(pairs),
        agreed=agreed,
        share=_share(agreed, len(pairs)),
        kappa=kappa,
        kappa_interval=reach,
        open=_open(reader, stream, most),
    )


def _person(name: str, said: list[tuple[str | None, float | None, float]]) -> Person:
    from statistics import median

    timed = [seconds for _, seconds, _ in said if seconds is not None]
    labels = sum(value is not None for value, _, _ in said)
    return Person(
        name=name,
        labels=labels,
        skips=len(said) - labels,
        seconds=median(timed) if timed else None,
        last=max(at for _, _, at in said),
    )


def _share(agreed: int, twice: int) -> Ends | None:
    from tallystick.stats.intervals import clopper_pearson

    if not twice:
        return None
    ends = clopper_pearson(agreed, twice)
    return ends.low, ends.high


def _kappa(pairs: list[tuple[str, str]]) -> tuple[float | None, Ends | None]:
    """Return Cohen's kappa of first and second readings with its interval."""
    from tallystick.results import Interval
    from tallystick.stats.agreement.cohen import cohen_kappa

    if len(pairs) < 2:
        return None, None
    words = sorted({word for pair in pairs for word in pair})
    found = cohen_kappa([[words.index(a), words.index(b)] for a, b in pairs])
    # Where everybody says the same, no agreement beyond chance can be told.
    if not isinstance(found.estimate, float) or not isinstance(found.interval, Interval):
        return None, None
    return found.estimate, (found.interval.low, found.interval.high)


def _open(reader: Reader, stream: StreamRecord, most: int) -> tuple[OpenDisagreement, ...]:
    found = reader.all(
        "select d.row_id, r.item, r.system from draw d join frame f on f.id = d.frame"
        f" join rows r on r.stream = f.stream and {reader.row_is('=', 'd.row_id')}"
        " where f.stream = ? and d.state = 'disagreed'"
        " order by d.frame, d.place limit ?",
        (stream.id, most),
    )
    open_ = []
    for row, item, system in found:
        said = reader.all(
            "select annotator, value from label where row_id = ? and current = 1"
            " and value is not null order by id",
            (row,),
        )
        open_.append(
            OpenDisagreement(item=item, system=system, said=tuple((a, v) for a, v in said))
        )
    return tuple(open_)
