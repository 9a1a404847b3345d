"""Real leaderboards: what each guarantee tells apart, what a sequential test needs, what partial labels save.

Run: ``python benchmarks/truth/compare.py [--write]``; the data are found at TALLYSTICK_DATA.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from tallystick.compare import Board, Settings, evaluate
from tallystick.compare.clusters import pairs_of_new_clusters
from tallystick.stats.signs import sign_log_e

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from record import record

DATA = Path(os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")) / "compare"

# Adjacent pairs told apart by Hoeffding, Holm, max-T; all pairs by max-T; contenders; tiers.
BASELINE = {
    "HELM Lite pooled": (0, 12, 12, 399, 1, 12),
    "GSM8K": (0, 7, 7, 392, 1, 8),
    "MedQA": (0, 1, 1, 324, 2, 2),
    "AlpacaEval": (1, 4, 5, 1062, 1, 6),
}


def boards() -> dict[str, tuple[Board, Settings]]:
    table = pq.read_table(DATA / "helm_lite_binary.parquet")
    names = tuple(name for name in table.column_names if name not in ("scenario", "item_id"))
    scores = np.stack([table[name].to_numpy() for name in names], axis=1).astype(float)
    scenario = np.array(table["scenario"].to_pylist())
    found = {"HELM Lite pooled": Board(names=names, scores=scores, clusters=tuple(scenario.tolist()))}
    for title, prefix in (("GSM8K", "gsm:"), ("MedQA", "med_qa:")):
        found[title] = Board(names=names, scores=scores[scenario == prefix])
    wins = pq.read_table(DATA / "alpaca_eval2_winrate_805x.parquet")
    names = tuple(name for name in wins.column_names if name not in ("item_id", "dataset"))
    scores = np.stack([wins[name].to_numpy() for name in names], axis=1).astype(float)
    found["AlpacaEval"] = Board(names=names, scores=scores[~np.isnan(scores).any(axis=1)])
    plain = Settings()
    return {
        title: (board, Settings(bounds=(0.0, 1.0)) if title == "AlpacaEval" else plain)
        for title, board in found.items()
    }


def leaderboards(found: dict[str, tuple[Board, Settings]]) -> None:
    rows = []
    for title, (board, settings) in found.items():
        flat = Board(names=board.names, scores=board.scores)
        result = evaluate(flat, settings=settings, rng=0)
        ours = (*(row.adjacent for row in result.guarantees), result.guarantees[-1].pairs)
        ours += (len(result.contenders), len(result.tiers))
        names = ("Hoeffding", "Holm", "max-T", "all pairs, max-T", "contenders", "tiers")
        row = {"data": title, "items": flat.n, "models": len(flat.names)}
        rows.append(
            row | {name: f"{mine} ({base})" for name, mine, base in zip(names, ours, BASELINE[title], strict=True)}
        )
    pooled = found["HELM Lite pooled"][0]
    moments = pooled.moments()
    table = pairs_of_new_clusters(moments.group_counts, moments.group_sums, bounds=(0.0, 1.0), alpha=0.05)
    place = np.argsort(np.argsort(-pooled.scores.mean(axis=0), kind="stable"))
    neighbours = np.abs(place[table.first] - place[table.second]) == 1
    record(
        "compare-leaderboards",
        "Real leaderboards: pairs told apart by each guarantee",
        rows,
        notes=[
            "Adjacent pairs told apart by a family-wise method over all pairs; in brackets the figures expected",
            "AlpacaEval: 8 of 805 items lack a score of some model and are left out here",
            "HELM Lite on new scenarios (20 clusters, uncorrected): "
            f"{int(((table.p_value <= 0.05) & neighbours).sum())} adjacent pairs (expected 2), "
            f"Holm {int(((table.adjusted_p <= 0.05) & neighbours).sum())}",
        ],
    )


def sequential(board: Board, orders: int = 20) -> None:
    """Decide every pair in random order by the e-process of discordant signs, each on its own."""
    rng = np.random.default_rng(0)
    pairs = len(board.names) * (len(board.names) - 1) // 2
    stops = []
    for _ in range(orders):
        x = board.scores[rng.permutation(board.n)].astype(np.int8)
        for i in range(len(board.names) - 1):
            gap = x[:, i : i + 1] - x[:, i + 1 :]
            path = sign_log_e(np.cumsum(gap > 0, axis=0), np.cumsum(gap < 0, axis=0)) >= np.log(20)
            stops += np.where(path.any(axis=0), path.argmax(axis=0) + 1, board.n + 1).tolist()
    found = np.array(stops)
    decided = found <= board.n
    row = {
        "pairs": pairs,
        "orders": orders,
        "decided": float(decided.mean()),
        "median stop of those": float(np.median(found[decided])),
        "median stop of all": float(np.median(found)),
        "items": board.n,
    }
    record(
        "compare-sequential",
        "A sequential test on HELM Lite",
        [row],
        notes=["Expected: 91 % of pairs decided after a median of 87-94 of 5001 items; at most 120 allowed"],
    )


def partial(found: dict[str, tuple[Board, Settings]]) -> None:
    """Count the labels that a pair, the first two, and a whole leaderboard do not need."""
    rows = []
    for title in ("HELM Lite pooled", "GSM8K", "MedQA"):
        board = found[title][0]
        x = board.scores
        first, second = np.triu_indices(len(board.names), 1)
        same = np.array([(x[:, a] == x[:, b]).mean() for a, b in zip(first, second, strict=True)])
        order = np.argsort(-x.mean(axis=0), kind="stable")
        top = float((x[:, order[0]] == x[:, order[1]]).mean())
        everyone = float((x == x[:, :1]).all(axis=1).mean())
        rows.append(
            {
                "data": title,
                "a median pair": float(np.median(same)),
                "the first two": top,
                "all models": everyone,
                "pairs identical": _identical(board, order[:2]),
            }
        )
    record(
        "compare-partial-labels",
        "Share of labels saved if only disagreements are labelled",
        rows,
        notes=[
            "Right/wrong scores stand for answers: two models that are both right or both wrong count as agreeing",
            "Expected: a median pair .34-.66, the first two .67-.82, a leaderboard of 30 about 0",
            "pairs identical: difference, interval and p-value from labels on disagreements alone are those from all",
        ],
    )


def _identical(board: Board, pair: np.ndarray) -> bool:
    """Compare the first two with all labels, and with labels on their disagreements alone."""
    x = board.scores[:, pair]
    names = [board.names[j] for j in pair]
    answers = {name: np.where(x[:, j] == 1, "right", "wrong").tolist() for j, name in enumerate(names)}
    apart = x[:, 0] != x[:, 1]
    full = evaluate({"gold": ["right"] * len(x), **answers}, truth="gold").pairs[0]
    some = evaluate({"gold": ["right" if a else None for a in apart], **answers}, truth="gold").pairs[0]
    return (full.difference, tuple(full.interval), full.p_value) == (
        some.difference,
        tuple(some.interval),
        some.p_value,
    )


def main() -> None:
    found = boards()
    leaderboards(found)
    sequential(found["HELM Lite pooled"][0], orders=5)
    partial(found)


if __name__ == "__main__":
    main()
