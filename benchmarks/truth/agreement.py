"""Agreement statistics beside those of statsmodels, scikit-learn and krippendorff, same tables.

python -m benchmarks.truth.agreement [--write]
"""

from __future__ import annotations

from typing import Any

import krippendorff
import numpy as np
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats import inter_rater

from benchmarks.record import record
from tallystick.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff_alpha

TABLES = 200


def table(number: int) -> np.ndarray:
    """Draw items x raters: 2 to 5 labels, 3 to 6 raters that agree more or less, none missing."""
    draw = np.random.default_rng([165, number])
    items, raters = int(draw.integers(8, 200)), int(draw.integers(3, 7))
    labels, right = int(draw.integers(2, 6)), draw.uniform(0.3, 0.95)
    truth = draw.integers(0, labels, items)[:, None]
    said = draw.integers(0, labels, (items, raters))
    return np.where(draw.random((items, raters)) < right, truth, said)


def with_gaps(codes: np.ndarray, number: int) -> np.ndarray:
    """Blank a fifth of the ratings, but leave two per item."""
    draw = np.random.default_rng([166, number])
    gone = draw.random(codes.shape) < 0.2
    gone[:, :2] = False
    return np.where(gone, -1, codes)


def by_krippendorff(codes: np.ndarray, level: str) -> float:
    data = np.where(codes < 0, np.nan, codes.astype(float)).T
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement=level))


def differences() -> dict[tuple[str, str], list[float]]:
    """Return how far each statistic is from its peer's on every table."""
    found: dict[tuple[str, str], list[float]] = {}

    def beside(name: str, peer: str, ours: Any, theirs: float) -> None:
        found.setdefault((name, peer), []).append(abs(float(ours.estimate) - float(theirs)))

    for number in range(TABLES):
        codes = table(number)
        gaps = with_gaps(codes, number)
        two = codes[:, :2]
        size = int(codes.max()) + 1
        counts = np.stack([(codes == c).sum(axis=1) for c in range(size)], axis=1)
        square = np.zeros((size, size))
        np.add.at(square, (two[:, 0], two[:, 1]), 1)

        beside(
            "Fleiss' kappa", "statsmodels", fleiss_kappa(codes), inter_rater.fleiss_kappa(counts)
        )
        kappa = cohen_kappa(two)
        beside("Cohen's kappa", "statsmodels", kappa, inter_rater.cohens_kappa(square).kappa)
        beside("Cohen's kappa", "scikit-learn", kappa, cohen_kappa_score(two[:, 0], two[:, 1]))
        for weights in ("linear", "quadratic"):
            beside(
                f"Cohen's kappa, {weights}",
                "scikit-learn",
                cohen_kappa(two, weights=weights, n_labels=size),
                cohen_kappa_score(two[:, 0], two[:, 1], weights=weights, labels=list(range(size))),
            )
        for metric in ("nominal", "ordinal"):
            name = f"Krippendorff's alpha, {metric}"
            ours = krippendorff_alpha(codes, metric=metric)
            beside(name, "krippendorff", ours, by_krippendorff(codes, metric))
            ours = krippendorff_alpha(gaps, metric=metric)
            beside(f"{name}, gaps", "krippendorff", ours, by_krippendorff(gaps, metric))
    return found


if __name__ == "__main__":
    rows = [
        {
            "statistic": name,
            "peer": peer,
            "tables": len(gap),
            "largest difference": f"{max(gap):.1g}",
        }
        for (name, peer), gap in differences().items()
    ]
    record(
        "agreement-peers",
        "Agreement statistics beside statsmodels, scikit-learn and krippendorff",
        rows,
        notes=[
            f"{TABLES} drawn tables: 8 to 200 items, 3 to 6 raters, 2 to 5 labels. *Gaps*: a fifth of"
            " the ratings is missing.",
            "Gwet's AC1 and Fleiss' kappa with gaps are held to irrCAC's digits in the tests.",
        ],
    )
