"""A point in evaluation space: prevalence, accuracies and correlations of binary judges, as exact
fractions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from tallystick.errors import InputError
from tallystick.judge.supervised import Correlations
from tallystick.values.label import Label

__all__ = ["Correlations", "Point"]


@dataclass(frozen=True, kw_only=True)
class Point:
    """Everything that decides the vote patterns of binary judges [CE23]_, supplement, definitions
    1.4-1.6.

    Parameters
    ----------
    labels
        The two labels, α and β.
    prevalence
        Share of items that are truly α.
    accuracy
        Judge to its accuracies on α and on β.
    correlations
        Those that are not zero; by default the judges err independently.

    Examples
    --------
    >>> point = Point(prevalence="1/4", accuracy={"ann": ("9/10", "4/5"), "bob": (1, "1/2")})
    >>> point.prevalence, point.accuracy["ann"]
    (Fraction(1, 4), (Fraction(9, 10), Fraction(4, 5)))
    """

    prevalence: Fraction
    accuracy: Mapping[str, tuple[Fraction, Fraction]]
    labels: tuple[Label, Label] = ("a", "b")
    correlations: Correlations = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prevalence", _share("prevalence", self.prevalence))
        pairs = {name: (_share(name, a), _share(name, b)) for name, (a, b) in self.accuracy.items()}
        object.__setattr__(self, "accuracy", pairs)
        found = {}
        for (label, judges), value in self.correlations.items():
            unknown = [name for name in judges if name not in pairs]
            if (
                label not in self.labels
                or unknown
                or len(set(judges)) != len(judges)
                or len(judges) < 2
            ):
                raise InputError(
                    f"correlations: ({label!r}, {judges!r}) names no label with two or more judges"
                    " of it"
                )
            found[label, tuple(sorted(judges, key=list(pairs).index))] = Fraction(value)
        object.__setattr__(self, "correlations", found)

    @property
    def names(self) -> tuple[str, ...]:
        """The judges."""
        return tuple(self.accuracy)

    def mirror(self) -> Point:
        """Return the point that gives the same votes with the labels exchanged (Eqs 33-35).

        >>> Point(prevalence="1/4", accuracy={"ann": ("9/10", "4/5")}).mirror().accuracy["ann"]
        (Fraction(1, 5), Fraction(1, 10))
        """
        alpha, beta = self.labels
        other = {alpha: beta, beta: alpha}
        return Point(
            prevalence=1 - self.prevalence,
            accuracy={name: (1 - b, 1 - a) for name, (a, b) in self.accuracy.items()},
            labels=self.labels,
            correlations={
                (other[label], judges): value * (-1) ** len(judges)
                for (label, judges), value in self.correlations.items()
            },
        )


def _share(name: str, value: Fraction | int | str) -> Fraction:
    if isinstance(value, float):
        raise InputError(
            f"{name} must be an exact share such as Fraction(9, 10) or '9/10', got the float"
            f" {value!r}"
        )
    share = Fraction(value)
    if not 0 <= share <= 1:
        raise InputError(f"{name} must be in [0, 1], got {value!r}")
    return share
