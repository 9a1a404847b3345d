"""From a table to one answer: read the columns, ask every capability that applies, conclude."""

from __future__ import annotations

from tallystick._rng import Rng, seed_of
from tallystick.audit.detect import detect
from tallystick.audit.reading import Named, Reading
from tallystick.audit.result import AuditResult, conclude
from tallystick.audit.sections import ask_all
from tallystick.errors import InputError
from tallystick.io import Table

__all__ = ["audit"]


def audit(
    table: Table, roles: Reading | Named | None = None, *, alpha: float = 0.05, rng: Rng = 0
) -> AuditResult:
    """Look at the columns of *table* and run all that applies.

    Parameters
    ----------
    table
        What `tallystick.io.scan` read.
    roles
        What `detect` found, or what the caller says of the columns; nothing lets `detect` look. A
        question that is still open is an error that names the option (the field of `Named`) which
        answers it.
    alpha
        One minus the level of every interval.
    rng
        Of whatever is drawn.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> answers = {"gold": ["a", "b", "b"] * 40, "gpt": ["a", "b", "a"] * 40, "claude": ["a", "b", "b"] * 40}
    >>> result = audit(scan(pa.table({"id": range(120), **answers})))
    >>> [section.verb for section in result.sections], result.n_items
    (['compare', 'judge'], 120)
    """
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    reading = roles if isinstance(roles, Reading) else detect(table, roles)
    reading.ask(table.source)
    answered, skipped = ask_all(table, reading, alpha=alpha, rng=rng)
    return conclude(reading, answered, skipped, seed=seed_of(rng))
