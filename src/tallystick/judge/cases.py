"""The items that judges got wrong; without labels, those on which they are most divided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.data import Cases, Data, Found, gather
from tallystick.data.cases import MOST_ROWS
from tallystick.judge.result import JudgeResult
from tallystick.results import Result
from tallystick.tally import Tally

__all__ = ["cases_of"]


def cases_of(result: Result, data: Data, *, texts: bool = True) -> Cases | None:
    """Return labelled items that at least one judge got wrong, those most got wrong first."""
    if not isinstance(result, JudgeResult) or isinstance(data.held, Tally):
        return None
    judges, truth = data.roles.judges, data.roles.truth
    if len(judges) < 1 or data.n_rows > MOST_ROWS:
        return None
    labels = data.label_lists(*judges, *([truth] if truth else []))
    if truth is not None and any(label is not None for label in labels[truth]):
        return _wrong(data, labels, judges, truth, texts=texts)
    return _divided(data, labels, judges, texts=texts) if len(judges) > 1 else None


def _votes(labels: Mapping[str, Sequence[Any]], names: Sequence[str], row: int) -> Any:
    return tuple((name, str(labels[name][row])) for name in names if labels[name][row] is not None)


def _wrong(
    data: Data,
    labels: Mapping[str, Sequence[Any]],
    judges: Sequence[str],
    truth: str,
    *,
    texts: bool,
) -> Cases:
    found, labelled = [], 0
    for row, true in enumerate(labels[truth]):
        if true is None:
            continue
        labelled += 1
        cast = [name for name in judges if labels[name][row] is not None]
        wrong = [name for name in cast if labels[name][row] != true]
        if not wrong:
            continue
        most = 2 * len(wrong) > len(cast)
        found.append(
            (
                -len(wrong),
                Found(
                    row=row,
                    kind="most judges wrong" if most else "some judges wrong",
                    summary=f"true {true} · {len(wrong)} of {len(cast)} judges wrong",
                    votes=(("true", str(true)), *_votes(labels, judges, row)),
                ),
            )
        )
    found.sort(key=lambda one: one[0])
    listed = [one for _, one in found]
    worst = sum(one.kind == "most judges wrong" for one in listed)
    line = (
        f"At least one judge is wrong on {len(listed):,} of {labelled:,} labelled items,"
        f" most judges on {worst:,}."
    )
    return gather(data, listed, title="Items", line=line, texts=texts)


def _divided(
    data: Data, labels: Mapping[str, Sequence[Any]], judges: Sequence[str], *, texts: bool
) -> Cases:
    found = []
    for row in range(len(labels[judges[0]])):
        counts = Counter(str(labels[name][row]) for name in judges if labels[name][row] is not None)
        if len(counts) < 2:
            continue
        (label, most), *_ = counts.most_common()
        total = counts.total()
        close = 3 * most <= 2 * total
        found.append(
            (
                most / total,
                Found(
                    row=row,
                    kind="nearly even" if close else "a few differ",
                    summary=f"{most} of {total} judges say {label}",
                    votes=_votes(labels, judges, row),
                ),
            )
        )
    found.sort(key=lambda one: one[0])
    line = f"The judges differ on {len(found):,} of {len(labels[judges[0]]):,} items."
    return gather(data, [one for _, one in found], title="Items", line=line, texts=texts)
