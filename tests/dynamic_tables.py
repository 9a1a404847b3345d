"""Attempt logs for the tests of the dynamic capability."""

import numpy as np


def attempts(*, rounds=2, annotators=12, tries=15, seed=0):
    """Return the columns of a log in which every annotator tries equally often in every round."""
    rng = np.random.default_rng(seed)
    rows = [(r, a) for r in range(1, rounds + 1) for a in range(annotators) for _ in range(tries)]
    fooled = rng.random(len(rows)) < 0.3
    return {
        "annotator": [f"w{a}" for _, a in rows],
        "round": [r for r, _ in rows],
        "model": [f"m{r}" for r, _ in rows],
        "fooled": fooled.astype(int).tolist(),
        "validated": ["yes" if f and rng.random() < 0.8 else "no" if f else "" for f in fooled],
        "cost": rng.integers(1, 5, len(rows)).tolist(),
    }
