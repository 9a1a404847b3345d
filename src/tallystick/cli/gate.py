"""``--gate EXPR``: a condition on which a build may pass or fail, parsed once for all verbs.

``new >= old - 0.01`` compares two names; ``flip_rate <= 0.05`` compares a name with a number.
Whether it holds is asked of an *interval*, so there are three answers: it holds, it fails, or the
data do not say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from tallystick.errors import InputError
from tallystick.results import Interval

__all__ = ["Gate", "all_of", "parse_gate"]

Relation: TypeAlias = Literal[">=", "<=", ">", "<"]

_QUOTED = r"\"[^\"]+\"|'[^']+'"
_RELATION = re.compile(
    rf"(?P<left>{_QUOTED}|.+?)\s*(?P<relation>>=|<=|>|<|==|=|!=)(?!=)\s*(?P<right>.+)", re.DOTALL
)
_NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
_SHIFTED = re.compile(rf"(?P<name>.+?)\s*(?P<sign>[+-])\s*(?P<number>{_NUMBER})(?P<percent>\s*%)?")
_PLAIN = re.compile(rf"(?P<sign>[+-]?)\s*(?P<number>{_NUMBER})(?P<percent>\s*%)?")


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition ``left RELATION right + offset``; without *right* the offset is the number
    itself.

    Parameters
    ----------
    left
        A model or a metric.
    relation
        ``>=``, ``<=``, ``>`` or ``<``.
    right
        The other model, or None.
    offset
        What is added to it; the number to compare with if there is none.
    """

    left: str
    relation: Relation
    right: str | None
    offset: float

    def holds(self, margin: Interval) -> bool | None:
        """Say whether ``left - right RELATION offset`` holds, given an interval for the margin;
        None if it is open.

        >>> gate = parse_gate("new >= old - 0.01")
        >>> [gate.holds(Interval(low, high)) for low, high in ((0.0, 0.1), (-0.3, -0.2), (-0.1, 0.1))]
        [True, False, None]
        """
        low, high = (
            (margin.low, margin.high)
            if self.relation in (">=", ">")
            else (-margin.high, -margin.low)
        )
        bar = self.offset if self.relation in (">=", ">") else -self.offset
        strict = self.relation in (">", "<")
        if low > bar or (low == bar and not strict):
            return True
        if high < bar or (high == bar and strict):
            return False
        return None

    def __str__(self) -> str:
        if self.right is None:
            return f"{self.left} {self.relation} {self.offset:g}"
        shift = f" {'+' if self.offset > 0 else '-'} {abs(self.offset):g}" if self.offset else ""
        return f"{self.left} {self.relation} {self.right}{shift}"


def parse_gate(text: str, *, known: Sequence[str] | None = None) -> Gate:
    """Read a gate.

    Parameters
    ----------
    text
        ``NAME RELATION NAME [± NUMBER]`` or ``NAME RELATION NUMBER``; a number may end in %. Quote
        a name that itself looks like arithmetic.
    known
        The names that may occur; a name that is one of them wins over arithmetic (``gpt-4`` is a
        model, not gpt minus 4), and all others are refused.

    Examples
    --------
    >>> parse_gate("new >= old - 0.01")
    Gate(left='new', relation='>=', right='old', offset=-0.01)
    >>> parse_gate("flip_rate <= 5%")
    Gate(left='flip_rate', relation='<=', right=None, offset=0.05)
    >>> parse_gate("claude-4 > gpt-4", known=["claude-4", "gpt-4"]).right
    'gpt-4'
    """
    found = _RELATION.fullmatch(text.strip())
    if found is None:
        raise InputError(f"a gate is 'NAME >= NAME - NUMBER' or 'NAME <= NUMBER', got {text!r}")
    relation = next((sign for sign in get_args(Relation) if sign == found["relation"]), None)
    if relation is None:
        raise InputError(
            f"a gate compares with >=, <=, > or <, got {found['relation']!r} in {text!r}"
        )
    return Gate(_name(found["left"], known), relation, *_right(found["right"].strip(), known))


def _right(text: str, known: Sequence[str] | None) -> tuple[str | None, float]:
    if known is not None and text in known:
        return text, 0.0
    if (plain := _PLAIN.fullmatch(text)) is not None:
        return None, _value(plain)
    shifted = _SHIFTED.fullmatch(text)
    if shifted is not None and (known is None or _unquoted(shifted["name"]) in known):
        return _name(shifted["name"], known), _value(shifted)
    return _name(text, known), 0.0


def _value(found: re.Match[str]) -> float:
    size = float(found["number"]) / (100 if found["percent"] else 1)
    return -size if found["sign"] == "-" else size


def _unquoted(text: str) -> str:
    name = text.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name


def _name(text: str, known: Sequence[str] | None) -> str:
    name = _unquoted(text)
    if known is not None and name not in known:
        raise InputError(
            f"a gate names {name!r}, which is not one of {', '.join(map(repr, list(known)[:12]))}"
        )
    return name


def all_of(gates: Iterable[Gate], margin: Callable[[Gate], Interval]) -> bool | None:
    """Say whether every gate holds: False as soon as one fails, None if none fails but one is open.

    >>> gates = [parse_gate("a >= 0.5"), parse_gate("b >= 0.5")]
    >>> all_of(gates, lambda gate: Interval(0.6, 0.7) if gate.left == "a" else Interval(0.4, 0.6)) is None
    True
    """
    answers = [gate.holds(margin(gate)) for gate in gates]
    if False in answers:
        return False
    return None if None in answers else True
