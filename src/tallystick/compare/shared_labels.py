"""Models that give none of the true labels: they are never right, most often by their spelling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tallystick.values import Label, identity
from tallystick.values.label import in_order

__all__ = ["no_shared_label"]

_MOST_NAMED = 5
_MOST_LISTED = 5


def no_shared_label(
    truth: str, true: Iterable[Label], given: Mapping[str, Iterable[Label]]
) -> list[str]:
    """Warn of each model that gives none of the true labels.

    Whoever holds the answers, as rows or as counts, knows which labels each column holds, so both
    ways of reading ask here.

    Parameters
    ----------
    truth, true
        The column of the truth and its labels; None (blank) is no label.
    given
        The labels that each model gives.

    Examples
    --------
    >>> [note] = no_shared_label("gold", ["yes", "no"], {"x": ["si", None], "y": ["no"]})
    >>> note.partition(". ")[0]
    "'x' answers 'si' and the truth 'gold' holds 'no', 'yes': no label is shared, so it is never right"
    """
    known = {identity(label): label for label in true if label is not None}
    found = []
    for name, labels in given.items():
        said = {identity(label): label for label in labels if label is not None}
        if said and not said.keys() & known.keys():
            found.append(
                f"{name!r} answers {_listed(said.values())} and the truth {truth!r} holds"
                f" {_listed(known.values())}: no label is shared, so it is never right. If they"
                " mean the same, write them alike"
            )
    return found[:_MOST_NAMED]


def _listed(labels: Iterable[Label]) -> str:
    shown = [repr(label) for label in in_order(labels)]
    return ", ".join(shown[:_MOST_LISTED]) + (" …" if len(shown) > _MOST_LISTED else "")
