"""The one latent-class model of the house: who is right how often, when nobody knows the truth."""

from tallystick.stats.latent.bootstrap import LatentBootstrap, bootstrap
from tallystick.stats.latent.fit import LatentFit, Start, fit
from tallystick.stats.latent.information import LatentInformation, information
from tallystick.stats.latent.misfit import Misfit, agreement_z, misfit
from tallystick.stats.latent.model import LatentModel, expected_agreement, log_likelihood, posterior
from tallystick.stats.latent.options import LatentOptions
from tallystick.stats.latent.simulate import simulate
from tallystick.stats.latent.triplet import (
    TrioMoments,
    Trios,
    solve_moments,
    solve_points,
    solve_trios,
    trio_moments,
    trio_point,
    triplet,
)

__all__ = [
    "LatentBootstrap",
    "LatentFit",
    "LatentInformation",
    "LatentModel",
    "LatentOptions",
    "Misfit",
    "Start",
    "TrioMoments",
    "Trios",
    "agreement_z",
    "bootstrap",
    "expected_agreement",
    "fit",
    "information",
    "log_likelihood",
    "misfit",
    "posterior",
    "simulate",
    "solve_moments",
    "solve_points",
    "solve_trios",
    "trio_moments",
    "trio_point",
    "triplet",
]
