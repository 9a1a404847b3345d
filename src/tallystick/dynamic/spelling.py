"""One spelling of each label in a log: a model that answers "Yes" to a true "yes" is not wrong, and
is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.dynamic.population import Array
from tallystick.dynamic.validators import votes_reader

if TYPE_CHECKING:
    from tallystick.values import Label

__all__ = ["one_spelling", "spelled_votes"]


def one_spelling(columns: Mapping[str, Sequence[Any]], *, coerce: bool = False) -> dict[str, Array]:
    """Return columns of labels as text, after holding them all to one spelling of each label.

    Parameters
    ----------
    columns
        The true labels and the answers; no cell is blank.
    coerce
        Read several spellings of one label as one (:func:`tallystick.values.spelling`) instead of
        refusing them.

    Examples
    --------
    >>> one_spelling({"gold": ["yes", "1"], "model": [" Yes", True]}, coerce=True)["model"].tolist()
    ['yes', '1']
    >>> one_spelling({"gold": ["yes"], "model": ["Yes"]})
    Traceback (most recent call last):
    tallystick.errors.InputError: the label 'yes' (text, in column 'gold', row 1) and the label 'Yes' (text, in ...
    """
    from tallystick.values import check_vocabulary

    cells = {name: [_plain(value) for value in values] for name, values in columns.items()}
    seen = {
        name: [value for _, value in dict.fromkeys((type(v), v) for v in values)]
        for name, values in cells.items()
    }

    def row_of(name: str, label: Label) -> str:
        found = next(k for k, v in enumerate(cells[name]) if type(v) is type(label) and v == label)
        return f"row {found + 1}"

    renaming = check_vocabulary(seen, coerce=coerce, locate_row=row_of)
    # A dictionary holds 1 and True as one key: under coercion they are one label, and else they
    # were refused.
    return {
        name: np.array([str(renaming[name][value]) for value in values])
        for name, values in cells.items()
    }


def spelled_votes(
    cells: Sequence[str | None],
    labels: Sequence[Any],
    *,
    name: str,
    truth: str,
    coerce: bool = False,
) -> tuple[str | None, ...]:
    """Return what validators said, in the spelling of the true labels.

    Parameters
    ----------
    cells
        One list of labels an item, as :func:`tallystick.dynamic.agreements` reads them.
    labels
        The true labels as they were written.
    name, truth
        The columns, for the message.
    coerce
        As in :func:`one_spelling`.

    Examples
    --------
    >>> spelled_votes(["CnC", "C, N", "1.0", None], ["c", "n", "1", "c"], name="said", truth="gold", coerce=True)
    ('c,n,c', 'c,n', '1', None)
    """
    from tallystick.values import check_vocabulary, spelling

    known = list(dict.fromkeys(str(_plain(label)) for label in labels))
    if not coerce:
        read = votes_reader(known)
        said = dict.fromkeys(vote for cell in cells for vote in read(cell))
        check_vocabulary({truth: known, name: list(said)})
        return tuple(cells)

    known = list(dict.fromkeys(str(spelling(label)) for label in known))
    words_in, short = votes_reader(known, words=True), all(len(label) == 1 for label in known)
    mark = next((sign for sign in ",;|" if not any(sign in label for label in known)), ",")

    def respelled(cell: str) -> str:
        words = words_in(cell)
        if short and len(words) == 1 and not _is_one_label(words[0], known):
            words = list(words[0])
        return mark.join(str(spelling(word)) for word in words)

    return tuple(None if cell is None else respelled(cell) for cell in cells)


def _is_one_label(word: str, known: Sequence[str]) -> bool:
    """Whether a word is a label in another spelling ("1.0", "True"), and not a list of labels
    ("01").
    """
    from tallystick.values import spelling

    return str(spelling(word)) in known and not all(str(spelling(sign)) in known for sign in word)


def _plain(value: Any) -> Label:
    """Return a cell as a label: a NumPy scalar as its Python twin, 1.0 as 1, anything that cannot
    be a label as its text.
    """
    from tallystick.values import whole

    plain = value.item() if isinstance(value, np.generic) else value
    return whole(plain) if isinstance(plain, str | int | float) else str(plain)
