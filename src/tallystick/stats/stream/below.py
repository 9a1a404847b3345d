r"""Is accuracy below x? A test on labelled items that may be looked at after every label.

For items labelled with known probability :math:`\pi_i` (the least is :math:`\pi_{min}`, fixed
beforehand), with c = 1 if the judge was right,

.. math::
    R^k \leftarrow (R^k + 1)\left(1 + \lambda_k (x - c) \frac{\pi_{min}}{\pi_i}\right), \qquad
    \lambda_k = \min\!\left(\frac{\{.05, .1, .2\}}{x (1-x)}, \frac{.9}{1 - x}\right)   \tag{S5}

Alarm when the mean of the three reaches :math:`T/\alpha`, T in labels: while accuracy is at least
x, the chance of an alarm in T labels is at most :math:`\alpha`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tallystick.errors import InputError

__all__ = ["Below"]


@dataclass(frozen=True, kw_only=True)
class Below:
    """Evidence that accuracy is below *accuracy*, as of the labels so far.

    Parameters
    ----------
    accuracy
        The x of (S5), in (0, 1).
    least_probability
        The least probability with which any item is labelled, fixed beforehand.
    labels
        How many labels were seen.
    capital
        The three R of (S5).

    Examples
    --------
    >>> test = Below(accuracy=0.8)
    >>> for right in (True, False, False):
    ...     test = test.update(right)
    >>> round(test.evidence, 4)
    6.332
    >>> test.alarm(horizon=1000, alpha=0.05)
    False
    """

    accuracy: float
    least_probability: float = 1.0
    labels: int = 0
    capital: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if not 0 < self.accuracy < 1:
            raise InputError(f"accuracy must be in (0, 1), got {self.accuracy!r}")
        if not 0 < self.least_probability <= 1:
            raise InputError(f"least_probability must be in (0, 1], got {self.least_probability!r}")

    @property
    def evidence(self) -> float:
        """Mean of the three R."""
        return sum(self.capital) / 3

    def update(self, right: bool, *, probability: float | None = None) -> Below:
        """Return the test after one more label.

        Parameters
        ----------
        right
            Whether the judge was right.
        probability
            With what probability the item was labelled; by default the least one.
        """
        drawn = self.least_probability if probability is None else probability
        if not self.least_probability <= drawn <= 1:
            raise InputError(
                f"probability must be in [least_probability, 1] = [{self.least_probability:g}, 1], "
                f"got {probability!r}: a smaller one would break the bound"
            )
        x = self.accuracy
        gain = (x - bool(right)) * self.least_probability / drawn
        rates = (min(part / (x * (1 - x)), 0.9 / (1 - x)) for part in (0.05, 0.1, 0.2))
        first, second, third = (
            min((r + 1) * (1 + rate * gain), 1e300)
            for r, rate in zip(self.capital, rates, strict=True)
        )  # (S5)
        return Below(
            accuracy=x,
            least_probability=self.least_probability,
            labels=self.labels + 1,
            capital=(first, second, third),
        )

    def alarm(self, *, horizon: int, alpha: float = 0.05) -> bool:
        """Return True if accuracy is below; at most *alpha* false alarms per *horizon* labels."""
        if horizon < 1 or not 0 < alpha < 1:
            raise InputError(
                f"horizon must be at least 1 and alpha in (0, 1), got {horizon!r} and {alpha!r}"
            )
        return self.evidence >= horizon / alpha

    def to_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return {
            "accuracy": self.accuracy,
            "least_probability": self.least_probability,
            "labels": self.labels,
            "capital": list(self.capital),
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Below:
        """Return the test that :meth:`to_dict` wrote."""
        first, second, third = saved["capital"]
        return cls(**{**saved, "capital": (first, second, third)})
