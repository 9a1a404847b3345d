"""What can be asked of an API for every row: whom, what, how often, and where the answers go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tallystick.clients import KINDS, Client, ClientQuestion, Reading
from tallystick.data import option
from tallystick.errors import InputError

__all__ = ["AskQuestion"]

_API = f"Whom to ask: {', '.join(kind.example for kind in KINDS)}."


@dataclass(frozen=True, kw_only=True)
class AskQuestion(ClientQuestion):
    """One question per row to an API or a judge.

    In Python *api* may be a `tallystick.clients.Client`.
    """

    api: str | Client | None = option(None, _API)
    name: str = option("answer", "Name of the new column.", flag="--as")
    pair: tuple[str, ...] = option(
        (), "Two columns of answers to compare: each row is asked in both orders.", metavar="A,B"
    )
    repeats: int = option(1, "How many times to ask about each row.", low=1)
    out: Path | None = option(
        None,
        "Write the table with the new column to this file.",
        flag="-o --out",
        metavar="FILE",
        writes=True,
    )
    dry_run: bool = option(False, "Say what it would cost, without asking anything.")

    def __post_init__(self) -> None:
        super().__post_init__()
        given = (self.pair,) if isinstance(self.pair, str) else tuple(self.pair)
        names = tuple(name.strip() for text in given for name in str(text).split(","))
        object.__setattr__(self, "pair", names)
        if names and (len(names) != 2 or names[0] == names[1] or not all(names)):
            raise InputError(f"pair (--pair) must name two columns, A,B; got {','.join(names)!r}")
        if isinstance(self.out, str):
            object.__setattr__(self, "out", Path(self.out))
        if not self.name.strip():
            raise InputError("name (--as) must not be blank")

    def reading_rule(self, *, coerce: bool) -> Reading:
        """Return how answers are read."""
        return Reading(self.answer or "exact", coerce)
