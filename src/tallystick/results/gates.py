"""A condition on which a build may pass or fail, checked for any result.

``new >= old - 0.01`` compares two names, ``flip_rate <= 0.05`` compares a name with a number, and
``score(new) > 0.8`` says which number of ``new`` is meant. A gate is checked against an *interval*,
so it has three outcomes: it passes, it fails, or the data cannot decide it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tallystick.errors import InputError, UsageError, unknown
from tallystick.results.interval import Interval, Json, Unknown, clean, clean_fields
from tallystick.results.numbers import (
    harmless,
    number,
    number_interval,
    percent_interval,
    points,
    points_interval,
)

if TYPE_CHECKING:
    from tallystick.results.result import Result

Relation: TypeAlias = Literal[">=", "<=", ">", "<"]

_QUOTED = r"\"[^\"]+\"|'[^']+'"
_RELATION = re.compile(
    rf"(?P<left>(?:\w+\()?(?:{_QUOTED})\)?|.+?)\s*"
    r"(?P<relation>>=|<=|>|<|==|=|!=)(?!=)\s*(?P<right>.+)",
    re.DOTALL,
)
_NUMBER = r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
_SHIFTED = re.compile(
    rf"(?P<name>.+?)\s*(?P<sign>[+-])\s*(?P<number>{_NUMBER})(?P<percent>\s*%)?", re.DOTALL
)
_PLAIN = re.compile(rf"(?P<sign>[+-]?)\s*(?P<number>{_NUMBER})(?P<percent>\s*%)?")
_CALL = re.compile(r"(?P<measure>[A-Za-z_]\w*)\(\s*(?P<name>.+?)\s*\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition ``left RELATION right + offset``.

    Parameters
    ----------
    left
        A model, a system or a metric.
    relation
        ``>=``, ``<=``, ``>`` or ``<``.
    right
        The name it is compared with, or None for a plain number.
    offset
        The number that is added to *right*; without *right*, the number itself.
    measure
        Which number of the names is meant, as in ``score(new)``; None if the gate does not say.
    """

    left: str
    relation: Relation
    right: str | None
    offset: float
    measure: str | None = None

    def holds(self, interval: Interval) -> bool | None:
        """Say whether the gate passes, given an interval for ``left - right``, or for ``left``.

        None means that the interval contains values on both sides of the bar.

        >>> gate = parse_gate("new >= old - 0.01")
        >>> [gate.holds(Interval(low, high)) for low, high in ((0.0, 0.1), (-0.3, -0.2), (-0.1, 0.1))]
        [True, False, None]
        """
        # A "<=" gate is the ">=" gate of the mirrored interval.
        upward = self.relation in (">=", ">")
        low, high = (interval.low, interval.high) if upward else (-interval.high, -interval.low)
        bar = self.offset if upward else -self.offset

        strict = self.relation in (">", "<")
        if low > bar or (low == bar and not strict):
            return True
        if high < bar or (high == bar and strict):
            return False
        return None

    def __str__(self) -> str:
        return self.with_bar(f"{abs(self.offset):g}")

    def with_bar(self, size: str) -> str:
        """Write the gate with *size* as its number, which keeps its sign."""
        left = f"{self._written(self.left)} {self.relation}"
        if self.right is None:
            return f"{left} {'-' if self.offset < 0 else ''}{size}"
        shift = f" {'+' if self.offset > 0 else '-'} {size}" if self.offset else ""
        return f"{left} {self._written(self.right)}{shift}"

    def _written(self, name: str) -> str:
        """Write a name such that it is read back as this name, in quotes if it must be."""
        odd = _PLAIN.fullmatch(name) or _SHIFTED.fullmatch(name) or _CALL.fullmatch(name)
        if odd or re.search(r"[<>=!\"']", name) or name != name.strip():
            quote = "'" if '"' in name else '"'
            name = f"{quote}{name}{quote}"
        return name if self.measure is None else f"{self.measure}({name})"


@dataclass(frozen=True, slots=True)
class GateEstimate:
    """What is known of the number that a gate compares with its bar.

    Parameters
    ----------
    estimate
        ``left - right``, or ``left`` where the gate names no other.
    interval
        Its interval; Unknown if there is none, and then the gate cannot be decided.
    unit
        ``share`` for rates, which are written in per cent and in points; ``number`` for the rest.
    what
        What is compared with the bar, where the gate names two: their difference, unless it says
        something else.
    bar
        The bar, where it is not that of the gate: a ratio is compared with 1.
    within
        Between what the number lies, whatever the data; None if nothing is known. A share lies
        between 0 and 1, and a difference of two between -1 and 1.
    where
        On which items the number rests, where that has to be said.
    extremes
        The number if all that is missing spoke against *left*, and if it spoke for it. The gate is
        decided only if they decide it alike.
    missing, way_out
        What is missing, and what to do about it; said where it leaves the gate open.
    """

    estimate: float | Unknown
    interval: Interval | Unknown
    unit: Literal["share", "number"] = "share"
    what: str = "difference"
    bar: float | None = None
    within: tuple[float, float] | None = None
    where: str = ""
    extremes: tuple[GateEstimate, ...] = ()
    missing: str = ""
    way_out: str = ""


@dataclass(frozen=True, kw_only=True)
class GateOutcome:
    """How one gate went.

    Parameters
    ----------
    expression
        The gate as it was typed.
    passed
        True, False, or None if the data cannot decide it.
    estimate, interval
        What is known of the number that is compared.
    bar
        The number it is compared with.
    text
        The numbers in words, for a terminal or a page.
    """

    expression: str
    passed: bool | None
    estimate: float | Unknown
    interval: Interval | Unknown
    bar: float
    text: str = ""

    @property
    def word(self) -> str:
        """``passed``, ``failed`` or ``undecided``."""
        return {True: "passed", False: "failed", None: "undecided"}[self.passed]

    def to_dict(self) -> dict[str, Json]:
        """Return the fields of the JSON contract."""
        unknown: dict[str, str] = {}
        held = {
            "expression": self.expression,
            "passed": self.passed,
            "estimate": self.estimate,
            "interval": self.interval,
        }
        out = clean_fields(held, "", unknown)
        return {**out, "unknown": dict(unknown)} if unknown else out

    def __str__(self) -> str:
        return f"gate {self.word}: {self.expression} ({self.text})"


def parse_gate(
    text: str, *, known: Sequence[str] | None = None, measures: Sequence[str] | None = None
) -> Gate:
    """Read a gate.

    Parameters
    ----------
    text
        ``NAME RELATION NAME [± NUMBER]`` or ``NAME RELATION NUMBER``; a number may end in %, and
        NAME may be ``MEASURE(NAME)``. Quote a name that itself looks like arithmetic.
    known
        The names that may occur. A name that is one of them wins over arithmetic (``gpt-4`` is a
        model, not gpt minus 4), and any other name raises `InputError`.
    measures
        The measures that may occur in ``MEASURE(NAME)``; None allows any.

    Examples
    --------
    >>> parse_gate("new >= old - 0.01")
    Gate(left='new', relation='>=', right='old', offset=-0.01, measure=None)
    >>> parse_gate("flip_rate <= 5%").offset
    0.05
    >>> parse_gate("claude-4 > gpt-4", known=["claude-4", "gpt-4"]).right
    'gpt-4'
    >>> gate = parse_gate('score("my model") > 0.8')
    >>> gate.measure, gate.left
    ('score', 'my model')
    """
    match = _RELATION.fullmatch(text.strip())
    relation = next(
        (sign for sign in get_args(Relation) if match and sign == match["relation"]), None
    )
    if match is None or relation is None:
        raise InputError(
            "a gate is 'NAME >= NAME - NUMBER' or 'NAME <= NUMBER', with >=, <=, > or <: got"
            f" {text!r}"
        )

    left, measure = _name(match["left"], known)
    right, of_right, offset = _right(match["right"].strip(), known)
    foreign = measure is not None and measures is not None and measure not in measures
    if foreign or (right is not None and measure != of_right):
        raise InputError(
            f"a gate names no measure, or one on both sides ({', '.join(measures or ['any'])}):"
            f" got {text!r}"
        )
    return Gate(left, relation, right, offset, measure)


def _right(text: str, known: Sequence[str] | None) -> tuple[str | None, str | None, float]:
    """Return the name on the right, its measure."""
    if known is not None and text in known:
        return text, None, 0.0
    if (plain := _PLAIN.fullmatch(text)) is not None:
        return None, None, _value(plain)

    # "gpt-4" is gpt minus 4 only if gpt is a name and gpt-4 is not.
    shifted = _SHIFTED.fullmatch(text)
    if shifted is not None and (known is None or _split(shifted["name"], known)[0] in known):
        return *_name(shifted["name"], known), _value(shifted)
    return *_name(text, known), 0.0


def _value(match: re.Match[str]) -> float:
    size = float(match["number"]) / (100 if match["percent"] else 1)
    return -size if match["sign"] == "-" else size


def _unquoted(text: str) -> str:
    name = text.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] and name[0] in "'\"" else name


def _split(text: str, known: Sequence[str] | None) -> tuple[str, str | None]:
    """Return a name and its measure."""
    plain = text.strip()
    name = _unquoted(plain)
    if name != plain or (known is not None and name in known):
        return name, None
    call = _CALL.fullmatch(plain)
    return (name, None) if call is None else (_unquoted(call["name"]), call["measure"])


def _name(text: str, known: Sequence[str] | None) -> tuple[str, str | None]:
    name, measure = _split(text, known)
    if known is not None and name not in known:
        raise InputError(f"gate: {unknown('name', name, known[:12])}")
    return name, measure


def check_bar(gate: Gate, low: float, high: float, *, share: bool) -> None:
    """Refuse a bar that no value from *low* to *high* can miss, or none can meet.

    Shares are typed in points by mistake, so their ends are no bars either: ``flip_rate < 1`` means
    1 point, and a difference of 100 points is never meant. ``flip_rate <= 0`` and ``new >= 100%``
    can be meant.

    >>> check_bar(parse_gate("new >= old - 1"), -1.0, 1.0, share=True)
    Traceback (most recent call last):
        ...
    tallystick.errors.UsageError: the gate 'new >= old - 1' can never fail: the number lies between -1 and 1. For 1 points write 'new >= old - 1%'
    >>> check_bar(parse_gate("score(new) > 80"), 1.0, 5.0, share=False)
    Traceback (most recent call last):
        ...
    tallystick.errors.UsageError: the gate 'score(new) > 80' can never pass: the number lies between 1 and 5
    """
    # A "<=" gate is the ">=" gate of the mirrored range.
    upward, strict = gate.relation in (">=", ">"), gate.relation in (">", "<")
    bar, least, most = (gate.offset, low, high) if upward else (-gate.offset, -high, -low)
    always = bar < least or (bar == least and (not strict or (share and gate.offset != 0)))
    never = bar > most or (bar == most and (strict or (share and low < 0)))
    if not always and not never:
        return

    size = abs(gate.offset)
    why = f"the number lies between {low:g} and {high:g}"
    if share and 0 < size <= 100:
        why += f". For {size:g} points write {gate.with_bar(f'{size:g}%')!r}"
    raise UsageError(f"the gate {str(gate)!r} can never {'fail' if always else 'pass'}: {why}")


def check_gates(
    texts: Iterable[str | Gate],
    *,
    margin: Callable[[Gate], GateEstimate | Interval],
    known: Sequence[str] | None = None,
    measures: Sequence[str] | None = None,
) -> tuple[GateOutcome, ...]:
    """Read every gate and check it.

    Parameters
    ----------
    texts
        The gates, as typed or as read by `parse_gate`.
    margin
        Returns what is known of ``left - right`` (or of ``left``) of a gate.
    known, measures
        As in `parse_gate`.

    Examples
    --------
    >>> [outcome] = check_gates(
    ...     ["new >= old - 0.01"],
    ...     known=["new", "old"],
    ...     margin=lambda gate: GateEstimate(0.044, Interval(0.026, 0.062)),
    ... )
    >>> outcome.passed
    True
    >>> print(outcome.text)
    difference +4.4 points [+2.6, +6.2], 5.4 points above the bar
    """
    outcomes = []
    for text in texts:
        gate = text if isinstance(text, Gate) else parse_gate(text, known=known, measures=measures)
        measured = margin(gate)
        if isinstance(measured, Interval):
            measured = GateEstimate(Unknown("only bounds are known"), measured)
        elif measured.bar is not None:
            gate = replace(gate, offset=measured.bar)
        elif (within := _within(gate, measured)) is not None:
            check_bar(gate, *within, share=measured.unit == "share")
        passed = _answer(gate, measured)
        turned = [one for one in measured.extremes if _answer(gate, one) != passed]
        words = _words(gate, measured)
        if turned and passed is not None:
            words += f"; {_turned(gate, measured, turned[0])}"
        outcomes.append(
            GateOutcome(
                expression=str(text) if isinstance(text, Gate) else text.strip(),
                passed=None if turned else passed,
                estimate=measured.estimate,
                interval=measured.interval,
                bar=gate.offset,
                text=words,
            )
        )
    return tuple(outcomes)


def _within(gate: Gate, measured: GateEstimate) -> tuple[float, float] | None:
    """Return between what the number of a gate lies."""
    if measured.within is not None or measured.unit != "share":
        return measured.within
    return (0.0, 1.0) if gate.right is None else (-1.0, 1.0)


def _answer(gate: Gate, measured: GateEstimate) -> bool | None:
    return None if isinstance(measured.interval, Unknown) else gate.holds(measured.interval)


def _turned(gate: Gate, measured: GateEstimate, other: GateEstimate) -> str:
    """Say that what is missing could turn a gate, and what to do."""
    could = "turn it"
    if not isinstance(other.interval, Unknown):
        could = f"make it {_numbers(gate, other).removeprefix(other.what).strip()}"
    way_out = f": {measured.way_out}" if measured.way_out else ""
    return f"{measured.missing}, which could {could}{way_out}"


def _numbers(gate: Gate, measured: GateEstimate) -> str:
    """Write the estimate and its interval."""
    if isinstance(measured.interval, Unknown):
        return str(measured.interval)
    share = measured.unit == "share"
    estimate = None if isinstance(measured.estimate, Unknown) else measured.estimate
    level = percent_interval if share else number_interval
    if measured.bar is not None:
        return f"{measured.what} {level(estimate, measured.interval)}"
    if gate.right is None:
        return level(estimate, measured.interval)
    write = points_interval if share else number_interval
    return f"{measured.what} {write(estimate, measured.interval, sign=True)}"


def _words(gate: Gate, measured: GateEstimate) -> str:
    """Say the estimate, its interval and the distance to the bar."""
    numbers = f"{_numbers(gate, measured)} {measured.where}".strip()
    unknown = isinstance(measured.interval, Unknown) or measured.bar is not None
    if unknown or isinstance(measured.estimate, Unknown):
        return numbers

    distance = measured.estimate - gate.offset
    share = measured.unit == "share"
    size = points(abs(distance), sign=False) if share else number(abs(distance))
    return f"{numbers}, {size} {'above' if distance >= 0 else 'below'} the bar"


def exit_code(outcomes: Iterable[GateOutcome]) -> int:
    """Return the exit code of gates."""
    answers = [one.passed for one in outcomes]
    return 10 if False in answers else 11 if None in answers else 0


# The answer for one part of the data, as ``--by COLUMN`` asks for it.


@dataclass(frozen=True)
class Slice:
    """One slice: its label, and the answer for it or the reason why there is none.

    >>> str(Slice("de", "one item is too few"))
    'de: one item is too few'
    """

    label: str | int | float | bool | None
    answer: Result | str

    def to_dict(self) -> dict[str, Json]:
        """Return the slice as JSON types."""
        label = clean(self.label, "slice", {})
        if isinstance(self.answer, str):
            return {"slice": label, "verdict": None, "unknown": {"verdict": self.answer}}
        return {"slice": label, **self.answer.to_dict()}

    def __str__(self) -> str:
        text = self.answer if isinstance(self.answer, str) else self.answer.verdict
        return f"{self.name}: {text}"

    @property
    def name(self) -> str:
        """The label as text."""
        return "(blank)" if self.label is None else str(self.label)


# Gates for a build server.


def junit(suite: str, gates: Sequence[GateOutcome]) -> str:
    """Return gates as JUnit XML, which every build server reads.

    A gate that fails is a failure. A gate that could not be decided is an error: the build did not
    get an answer.

    >>> outcome = GateOutcome(expression="a > 0.5", passed=True, estimate=0.8, bar=0.5,
    ...     interval=Interval(0.7, 0.9), text="80.0% [70.0, 90.0]")
    >>> print(junit("compare", [outcome]))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites>
      <testsuite name="tallystick compare" tests="1" failures="0" errors="0">
        <testcase classname="tallystick.compare" name="a &gt; 0.5">
          <system-out>80.0% [70.0, 90.0]</system-out>
        </testcase>
      </testsuite>
    </testsuites>
    """
    from html import escape  # few answers have gates

    def written(text: str) -> str:
        return escape(harmless(text))

    failures = sum(gate.passed is False for gate in gates)
    errors = sum(gate.passed is None for gate in gates)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f'  <testsuite name="tallystick {written(suite)}" tests="{len(gates)}"'
        f' failures="{failures}" errors="{errors}">',
    ]

    for gate in gates:
        name = written(gate.expression)
        lines.append(f'    <testcase classname="tallystick.{written(suite)}" name="{name}">')
        if gate.passed is not True:
            tag = "failure" if gate.passed is False else "error"
            message = f"gate {gate.word}: {written(gate.text)}"
            lines.append(f'      <{tag} type="{gate.word}" message="{message}"/>')
        lines.append(f"      <system-out>{written(gate.text)}</system-out>")
        lines.append("    </testcase>")
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"])
