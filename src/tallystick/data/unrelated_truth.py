"""True labels that agree with nobody, while the columns agree with one another.

Labels that were joined one row too far, or sorted apart from their table, are as good as random.
Every judge then looks no better than chance. Judges that share errors can do that too, so this is a
warning, and what every interval rests on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallystick.data.counted_cells import cells_of, spelled_codes
from tallystick.data.data import VOTES, Data
from tallystick.data.detect.beyond_chance import beyond_chance, kappas
from tallystick.data.detect.sample import MOST_ROWS, Codes, draw
from tallystick.io import identifier
from tallystick.tally import Tally

__all__ = ["is_unrelated", "unrelated_truth"]

_MOST_COLUMNS = 40
_MOST_LABELS = 30
"""Different labels above which columns are compared as numbers elsewhere, not here."""

_SHOWS = 4.0
"""Standard errors at which a truth would show, if the columns were as good as they agree."""

_CHANCE = 2.0


def unrelated_truth(data: Data) -> str | None:
    """Return the truth, if it agrees with no column although the columns agree with one another.

    Examples
    --------
    >>> from tallystick.data import read
    >>> gpt, claude = [0, 1, 1, 0, 1] * 20, [0, 1, 1, 0, 0] * 20
    >>> table = {"gpt": gpt, "claude": claude, "gold": [0, 1, 1, 1, 0, 0, 0] * 14 + [1, 0]}
    >>> unrelated_truth(read(table, truth="gold", judges=("gpt", "claude")))
    'gold'
    """
    truth, held = data.roles.truth, data.held
    columns = data.roles.columns(*VOTES)[:_MOST_COLUMNS]
    if truth is None or data.session is not None or data.in_engine:
        return None
    if len(columns) < 2 or len(data.roles.systems) == 2:
        return None
    names = (truth, *columns)
    if isinstance(held, Tally):
        codes, counts = spelled_codes(held, names, data.rules.missing)
        known = codes[:, 0] >= 0
        codes = cells_of(codes[known], counts[known], MOST_ROWS)
        return truth if codes.size and is_unrelated(codes) else None
    if truth not in held.columns:
        return None
    chosen = ", ".join(map(identifier, names))
    # Sparse labels are looked at where they are.
    some = held.derive(f"select {chosen} from rows where {identifier(truth)} is not null")
    sample = draw(replace(held, relation=some, columns=names, parts=()), missing=data.rules.missing)
    codes = sample.codes(names)
    codes = codes[codes[:, 0] >= 0]
    return truth if codes.size and is_unrelated(codes) else None


def is_unrelated(codes: Codes) -> bool:
    r"""Say whether the first column agrees with no other, while the others agree.

    Two columns that are right with independent errors and agree with kappa :math:`\kappa` each
    agree with the truth with about :math:`\sqrt\kappa`, which *n* rows show at
    :math:`\sqrt{n \kappa}` standard errors.
    """
    if codes.max(initial=-1) >= _MOST_LABELS:
        return False
    votes = codes[:, 1:]
    pairs = kappas(votes)[np.triu_indices(votes.shape[1], 1)]
    pairs = pairs[np.isfinite(pairs)]
    if not pairs.size:
        return False
    # Columns that only seem to agree prove nothing: two standard errors are taken off.
    kappa = max(float(pairs.mean()) - _CHANCE / np.sqrt(len(codes)), 0.0)
    if np.sqrt(len(codes) * kappa) < _SHOWS:
        return False
    return bool(np.abs(beyond_chance(codes[:, 0], votes)[1]).max() < _CHANCE)
