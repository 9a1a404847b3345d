"""The one latent-class model of the house: who is right how often, when nobody knows the truth."""

from tallystick.stats.latent.bootstrap import LatentBootstrap, bootstrap
from tallystick.stats.latent.calibrate import (
    Calibration,
    calibrate,
    cross_fitted,
    expected_calibration_error,
)
from tallystick.stats.latent.covotes import CoVotes, covote_misfit
from tallystick.stats.latent.extras import WithExtras, with_extras
from tallystick.stats.latent.fit import LatentFit, Start, fit
from tallystick.stats.latent.headline import Headline, blend, half_to_double, headline
from tallystick.stats.latent.information import LatentInformation, information
from tallystick.stats.latent.misfit import Misfit, agreement_z, misfit
from tallystick.stats.latent.model import LatentModel, expected_agreement, log_likelihood, posterior
from tallystick.stats.latent.options import LatentOptions
from tallystick.stats.latent.others import Others, majority_of_others
from tallystick.stats.latent.simulate import simulate
from tallystick.stats.latent.support import Support, support
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
from tallystick.stats.latent.unreadable import SHARES, UnreadableFit, fit_unreadable

__all__ = [
    "SHARES",
    "Calibration",
    "CoVotes",
    "Headline",
    "LatentBootstrap",
    "LatentFit",
    "LatentInformation",
    "LatentModel",
    "LatentOptions",
    "Misfit",
    "Others",
    "Start",
    "Support",
    "TrioMoments",
    "Trios",
    "UnreadableFit",
    "WithExtras",
    "agreement_z",
    "blend",
    "bootstrap",
    "calibrate",
    "covote_misfit",
    "cross_fitted",
    "expected_agreement",
    "expected_calibration_error",
    "fit",
    "fit_unreadable",
    "half_to_double",
    "headline",
    "information",
    "log_likelihood",
    "majority_of_others",
    "misfit",
    "posterior",
    "simulate",
    "solve_moments",
    "solve_points",
    "solve_trios",
    "support",
    "trio_moments",
    "trio_point",
    "triplet",
    "with_extras",
]
