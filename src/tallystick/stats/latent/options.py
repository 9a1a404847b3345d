"""What a fit of the latent-class model may be told besides the votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError

__all__ = ["LatentOptions"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentOptions:
    """How to fit the latent-class model; every default is maximum likelihood from the majority
    start.

    Parameters
    ----------
    balance
        The class balance, where it is known; it is then not estimated.
    confusion
        Known confusion matrices (classes x votes) by judge; they are then not estimated.
    balance_prior, confusion_prior
        Dirichlet pseudo-counts added in the M step: one number for all, or an array over classes /
        over judges x classes x votes. 0 is maximum likelihood.
    n_starts
        The first start is the majority vote, the others are random; the highest objective wins.
    branch
        ``better-than-chance`` names the classes so that the judges' diagonals are largest, wherever
        the data cannot tell the namings apart; ``as-started`` keeps what each start led to.
    tolerance
        EM stops when a plain step moves no probability by more than this.
    max_iterations
        EM steps allowed for each start.
    accelerate
        Extrapolate with SQUAREM; the objective still never falls.
    strict
        Raise ConvergenceError when the best start did not converge; if False, say so in
        ``LatentFit.converged``.
    """

    balance: npt.ArrayLike | None = None
    confusion: Mapping[int, npt.ArrayLike] = field(default_factory=dict)
    balance_prior: float | npt.ArrayLike = 0.0
    confusion_prior: float | npt.ArrayLike = 0.0
    n_starts: int = 1
    branch: Literal["better-than-chance", "as-started"] = "better-than-chance"
    tolerance: float = 1e-8
    max_iterations: int = 10_000
    accelerate: bool = True
    strict: bool = True

    def __post_init__(self) -> None:
        if self.n_starts < 1:
            raise InputError(f"n_starts must be at least 1, got {self.n_starts!r}")
        if not self.tolerance > 0:
            raise InputError(f"tolerance must be positive, got {self.tolerance!r}")
        if self.max_iterations < 1:
            raise InputError(f"max_iterations must be at least 1, got {self.max_iterations!r}")
        if self.branch not in ("better-than-chance", "as-started"):
            raise InputError(
                f"branch must be 'better-than-chance' or 'as-started', got {self.branch!r}"
            )
        for name in ("balance_prior", "confusion_prior"):
            if not (np.asarray(getattr(self, name), dtype=np.float64) >= 0).all():
                raise InputError(
                    f"{name} must hold pseudo-counts of at least 0, got {getattr(self, name)!r}"
                )
