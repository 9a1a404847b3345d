"""How many pairs of a leaderboard the error bars of other tools tell apart.

``python -m benchmarks.truth.peers [--write]``. Standard errors of evaluation harnesses are ``s / sqrt(n)``,
as they print them, and a reader's usual ``± 1.96`` of it; Holm's rule is that of statsmodels.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from benchmarks.known import known
from benchmarks.record import record
from tallystick.verbs.compare import evaluate

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TALLYSTICK_DATA", ROOT.parent / "shared" / "data"))


def leaderboard() -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(DATA / "compare" / "helm_lite_binary.parquet")
    marks = [
        name
        for name in table.column_names
        if str(table.schema.field(name).type) in ("int8", "uint8", "int64")
    ]
    scores = {
        name: table[name].to_numpy().astype(int)
        for name in marks
        if set(np.unique(table[name])) <= {0, 1}
    }
    board = np.stack(list(scores.values()))
    means, errors = board.mean(axis=1), board.std(axis=1, ddof=1) / np.sqrt(board.shape[1])
    i, j = np.triu_indices(len(board), 1)
    apart = np.abs(means[i] - means[j])
    p = 2 * norm.sf(apart / np.sqrt(errors[i] ** 2 + errors[j] ** 2))
    bars = int((apart > 1.96 * (errors[i] + errors[j])).sum())
    holm = int(multipletests(p, method="holm")[0].sum())
    ours = evaluate({name: values.tolist() for name, values in scores.items()}, rng=0)
    told = sum(known(pair.adjusted_p) <= ours.alpha for pair in ours.pairs)
    found = {
        "error bars of ± 1.96 standard errors do not overlap": (bars, "none named"),
        "two standard errors in one z-test, Holm over all pairs": (holm, "family-wise"),
        f"Tallystick: {ours.adjustment}, on the same items": (told, "family-wise"),
    }
    rows = [
        {"how": how, "pairs told apart": count, "error held": held}
        for how, (count, held) in found.items()
    ]
    record(
        "peers-leaderboard",
        f"Pairs of HELM Lite told apart, of {len(i)}",
        rows,
        notes=[
            f"{len(board)} models on {board.shape[1]:,} items (compare/helm_lite_binary.parquet),"
            " level .05."
        ],
    )


if __name__ == "__main__":
    leaderboard()
