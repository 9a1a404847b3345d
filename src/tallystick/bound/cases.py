"""The rows that a classifier got wrong; without labels, those where weak labels contradict it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.data import Cases, Data, Found, gather
from tallystick.data.cases import MOST_ROWS
from tallystick.results import Result
from tallystick.tally import Tally

__all__ = ["cases_of"]


def cases_of(result: Result, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the rows behind the answer about the first classifier, the clearest first."""
    del result
    if isinstance(data.held, Tally) or not data.roles.prediction or data.n_rows > MOST_ROWS:
        return None
    chosen, truth, weak = data.roles.prediction[0], data.roles.truth, data.roles.weak
    labels = data.label_lists(chosen, *weak, *([truth] if truth else []))
    if truth is not None and any(label is not None for label in labels[truth]):
        return _wrong(data, labels, chosen, truth, texts=texts)
    return _contradicted(data, labels, chosen, weak, texts=texts)


def _cast(labels: Mapping[str, Sequence[Any]], names: Sequence[str], row: int) -> dict[str, str]:
    return {name: str(labels[name][row]) for name in names if labels[name][row] is not None}


def _wrong(
    data: Data, labels: Mapping[str, Sequence[Any]], chosen: str, truth: str, *, texts: bool
) -> Cases:
    """List the labelled rows that the classifier gets wrong, by kind of error."""
    found, labelled = [], 0
    for row, (said, true) in enumerate(zip(labels[chosen], labels[truth], strict=True)):
        if true is None or said is None:
            continue
        labelled += 1
        if said != true:
            votes = _cast(labels, data.roles.weak, row)
            found.append(
                Found(
                    row=row,
                    kind=f"{true} predicted as {said}",
                    summary=f"true {true} · {chosen} says {said}",
                    votes=(("true", str(true)), (chosen, str(said)), *votes.items()),
                )
            )
    line = f"{chosen} is wrong on {len(found):,} of {labelled:,} labelled rows."
    return gather(data, found, title="Items", line=line, texts=texts)


def _contradicted(
    data: Data,
    labels: Mapping[str, Sequence[Any]],
    chosen: str,
    weak: Sequence[str],
    *,
    texts: bool,
) -> Cases:
    """List the rows on which most weak labels that vote say something else."""
    found, voted = [], 0
    for row, said in enumerate(labels[chosen]):
        votes = _cast(labels, weak, row)
        if said is None or not votes:
            continue
        voted += 1
        against = sum(vote != str(said) for vote in votes.values())
        if 2 * against <= len(votes):
            continue
        every = against == len(votes)
        found.append(
            (
                (-against, len(votes)),
                Found(
                    row=row,
                    kind="all weak labels disagree" if every else "most weak labels disagree",
                    summary=f"{chosen} says {said} · {against} of {len(votes)} weak labels differ",
                    votes=((chosen, str(said)), *votes.items()),
                ),
            )
        )
    found.sort(key=lambda one: one[0])
    line = (
        f"Most weak labels disagree with {chosen} on {len(found):,} of {voted:,} rows with a vote:"
        " look at these first."
    )
    return gather(data, [one for _, one in found], title="Items", line=line, texts=texts)
