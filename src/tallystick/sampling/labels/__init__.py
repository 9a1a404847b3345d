"""Which items to label next, and what the labels say: mathematics on arrays, no files, no tables.

=====================  ==========================================================================
module                 what it answers
=====================  ==========================================================================
`strata`               which items do the votes make look alike
`draws`, `journal`     which item is drawn next, with which probability; what was drawn
`planned_share`        the share of ones, at a planned stop
`anytime_share`        the share of ones, whenever you stop
`difference`           which of two is better, from labels where it matters
`best_of`, `contest`   which of k models or systems is the best, or nearly
`accuracies`           how often each judge is right, from the same labels
`certified_mean`       the mean of graded labels, exactly covered
`batches`              how many labels next, and when to stop
`existing`             labels that were there already, and items that were skipped
`readers`              two readers: their error, and their disagreements
=====================  ==========================================================================
"""

from tallystick.sampling.labels.accuracies import ClassRecall, JudgeAccuracy, judge_accuracies
from tallystick.sampling.labels.anytime_share import (
    ShareVerdict,
    anytime_path,
    anytime_share,
    share_verdict,
)
from tallystick.sampling.labels.batches import (
    LabelProgress,
    StopReason,
    forecast,
    next_batch,
    stop_reason,
    verdict_forecast,
)
from tallystick.sampling.labels.best_of import BestOf, advance, best_of, contested_draws, start
from tallystick.sampling.labels.certified_mean import certified_mean
from tallystick.sampling.labels.contest import Contest, JudgedContest, contest_of
from tallystick.sampling.labels.difference import (
    SignVerdict,
    classifier_difference,
    disagreement_strata,
    gap_spread,
    gap_strata,
    judged_difference,
)
from tallystick.sampling.labels.draws import (
    class_spread,
    draw_batch,
    replay,
    share_spread,
    uniform_spread,
)
from tallystick.sampling.labels.existing import (
    Apart,
    as_draws,
    both_ways,
    count_apart,
    crossed,
    for_drawing,
    refused_claim,
)
from tallystick.sampling.labels.journal import Draw, DrawJournal, drawing_probabilities, readable
from tallystick.sampling.labels.planned_share import PlannedShare, planned_share, planned_shares
from tallystick.sampling.labels.readers import (
    ReaderError,
    read_twice,
    reader_error,
    resolve,
    too_noisy,
)
from tallystick.sampling.labels.rectified import Steps, rectified_steps
from tallystick.sampling.labels.strata import (
    LabelStrata,
    class_strata,
    rank_slices,
    score_strata,
    vote_strata,
)

__all__ = [
    "Apart",
    "BestOf",
    "ClassRecall",
    "Contest",
    "Draw",
    "DrawJournal",
    "JudgeAccuracy",
    "JudgedContest",
    "LabelProgress",
    "LabelStrata",
    "PlannedShare",
    "ReaderError",
    "ShareVerdict",
    "SignVerdict",
    "Steps",
    "StopReason",
    "advance",
    "anytime_path",
    "anytime_share",
    "as_draws",
    "best_of",
    "both_ways",
    "certified_mean",
    "class_spread",
    "class_strata",
    "classifier_difference",
    "contest_of",
    "contested_draws",
    "count_apart",
    "crossed",
    "disagreement_strata",
    "draw_batch",
    "drawing_probabilities",
    "for_drawing",
    "forecast",
    "gap_spread",
    "gap_strata",
    "judge_accuracies",
    "judged_difference",
    "next_batch",
    "planned_share",
    "planned_shares",
    "rank_slices",
    "read_twice",
    "readable",
    "reader_error",
    "rectified_steps",
    "refused_claim",
    "replay",
    "resolve",
    "score_strata",
    "share_spread",
    "share_verdict",
    "start",
    "stop_reason",
    "too_noisy",
    "uniform_spread",
    "verdict_forecast",
    "vote_strata",
]
