"""Is another round of this benchmark worth it: populations, designs, learners, theory, simulation
and real logs.

| question | call |
|---|---|
| What is proved, before anything is run? | :func:`theory` |
| What would a design bring, with such a learner? | :func:`simulate` |
| What does the log of a real benchmark say? | :func:`analyse` |
| And of each item: how hard is it, which label to check first? | :func:`item_rows` |
| How does my own classifier behave? | :func:`run_experiment` |
| Are adversarial labels worth their price? | :func:`label_cost` |
| Could these error sets have happened? | :func:`check` |
| What is the worst that can happen? | :func:`worst_case` |

Source: A. Shirali, R. Abebe, M. Hardt, A Theory of Dynamic Benchmarks, 2023, cited as [SAH23]_.
Theory: ``docs/theory/dynamic.md``. Neural networks on a GPU are in ``tallystick.dynamic.deep``
(extra ``[torch]``).
"""

from __future__ import annotations

from tallystick.dynamic.advice import Advice, Option, Prices, advise
from tallystick.dynamic.analyse import analyse
from tallystick.dynamic.bounds import (
    exponential_bound,
    hdh_distance,
    hierarchical_bound,
    hierarchical_floor,
    path_bound,
    path_floor,
    perfect_bad_models,
    perfect_majority_risk,
    random_pick_rounds,
    three_round_bound,
)
from tallystick.dynamic.certificates import Certificate, hierarchical_certificate, path_certificate
from tallystick.dynamic.collection import Collection
from tallystick.dynamic.consistency import Consistency, check
from tallystick.dynamic.control import control_risk
from tallystick.dynamic.curves import Curves, curves, plurality
from tallystick.dynamic.design import Design, Step, hierarchical, path
from tallystick.dynamic.design_file import design_text, load_design, parse_design
from tallystick.dynamic.drawing import draw_design
from tallystick.dynamic.envelope import Envelope, envelope
from tallystick.dynamic.estimators import EstimatorTrainer, Trainer
from tallystick.dynamic.experiment import Experiment, learner_rollouts, run_experiment
from tallystick.dynamic.forecast import fitted_learner, forecast
from tallystick.dynamic.gradient import Updates, exponential_updates, hinge_slope, hinge_updates
from tallystick.dynamic.item_rows import ItemRows, item_rows
from tallystick.dynamic.label_cost import LabelCost, label_cost
from tallystick.dynamic.learners import (
    Continued,
    Correlated,
    Learner,
    Perfect,
    RandomErrors,
    Scripted,
    Wander,
)
from tallystick.dynamic.log import RoundLog
from tallystick.dynamic.noise import noise_bound, noise_closed_form, noise_path
from tallystick.dynamic.population import Population, collect, mix, risk, vote
from tallystick.dynamic.probit import ProbitFit, fit_correlation
from tallystick.dynamic.result import (
    DynamicResult,
    LogResult,
    Round,
    SimulationResult,
    TheoryResult,
)
from tallystick.dynamic.rollouts import Rollouts, roll_design, roll_path
from tallystick.dynamic.similarity import early_signals, overlap_test, rank_persistence, similarity
from tallystick.dynamic.simulate import simulate
from tallystick.dynamic.theory import theory
from tallystick.dynamic.validators import agreements, noise_share
from tallystick.dynamic.worst_case import WorstCase, worst_case

__all__ = [
    "Advice",
    "Certificate",
    "Collection",
    "Consistency",
    "Continued",
    "Correlated",
    "Curves",
    "Design",
    "DynamicResult",
    "Envelope",
    "EstimatorTrainer",
    "Experiment",
    "ItemRows",
    "LabelCost",
    "Learner",
    "LogResult",
    "Option",
    "Perfect",
    "Population",
    "Prices",
    "ProbitFit",
    "RandomErrors",
    "Rollouts",
    "Round",
    "RoundLog",
    "Scripted",
    "SimulationResult",
    "Step",
    "TheoryResult",
    "Trainer",
    "Updates",
    "Wander",
    "WorstCase",
    "advise",
    "agreements",
    "analyse",
    "check",
    "collect",
    "control_risk",
    "curves",
    "design_text",
    "draw_design",
    "early_signals",
    "envelope",
    "exponential_bound",
    "exponential_updates",
    "fit_correlation",
    "fitted_learner",
    "forecast",
    "hdh_distance",
    "hierarchical",
    "hierarchical_bound",
    "hierarchical_certificate",
    "hierarchical_floor",
    "hinge_slope",
    "hinge_updates",
    "item_rows",
    "label_cost",
    "learner_rollouts",
    "load_design",
    "mix",
    "noise_bound",
    "noise_closed_form",
    "noise_path",
    "noise_share",
    "overlap_test",
    "parse_design",
    "path",
    "path_bound",
    "path_certificate",
    "path_floor",
    "perfect_bad_models",
    "perfect_majority_risk",
    "plurality",
    "random_pick_rounds",
    "rank_persistence",
    "risk",
    "roll_design",
    "roll_path",
    "run_experiment",
    "similarity",
    "simulate",
    "theory",
    "three_round_bound",
    "vote",
    "worst_case",
]
