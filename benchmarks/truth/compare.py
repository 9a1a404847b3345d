"""Real leaderboards: what is told apart, what a sequential test needs, what partial labels save.

Run: ``python -m benchmarks.truth.compare [--write]``; the data are found at TALLYSTICK_DATA.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks.known import known
from benchmarks.record import ROOT, record
from tallystick.papers.detecting_differences import coin, trade_off_figure
from tallystick.report import Plot
from tallystick.stats.maxt import pairwise_max_t, step_down
from tallystick.verbs.compare import Board, CompareQuestion, evaluate

DATA = (
    Path(os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
    / "compare"
)

DRAWS = 200_000

# All pairs told apart by max-T; contenders; tiers.
BASELINE = {
    "HELM Lite pooled": (399, 1, 12),
    "GSM8K": (392, 1, 8),
    "MedQA": (324, 2, 2),
    "AlpacaEval": (1062, 1, 6),
}


def boards() -> dict[str, tuple[Board, CompareQuestion]]:
    table = pq.read_table(DATA / "helm_lite_binary.parquet")
    names = tuple(name for name in table.column_names if name not in ("scenario", "item_id"))
    scores = np.stack([table[name].to_numpy() for name in names], axis=1).astype(float)
    scenario = np.array(table["scenario"].to_pylist())
    found = {
        "HELM Lite pooled": Board(names=names, scores=scores, clusters=tuple(scenario.tolist()))
    }
    for title, prefix in (("GSM8K", "gsm:"), ("MedQA", "med_qa:")):
        found[title] = Board(names=names, scores=scores[scenario == prefix])
    names, scores = _alpaca()
    found["AlpacaEval"] = Board(names=names, scores=scores[~np.isnan(scores).any(axis=1)])
    plain = CompareQuestion()
    return {
        title: (board, CompareQuestion(bounds=(0.0, 1.0)) if title == "AlpacaEval" else plain)
        for title, board in found.items()
    }


def _alpaca() -> tuple[tuple[str, ...], np.ndarray]:
    wins = pq.read_table(DATA / "alpaca_eval2_winrate_805x.parquet")
    names = tuple(name for name in wins.column_names if name not in ("item_id", "dataset"))
    return names, np.stack([wins[name].to_numpy() for name in names], axis=1).astype(float)


def leaderboards(found: dict[str, tuple[Board, CompareQuestion]]) -> None:
    rows = []
    for title, (board, question) in found.items():
        flat = Board(names=board.names, scores=board.scores)
        result = evaluate(flat, question=replace(question, draws=DRAWS), seed=0)
        ours = (result.pairs_told, len(result.contenders), len(result.tiers))
        names = ("all pairs, max-T", "contenders", "tiers")
        row = {"data": title, "items": flat.n, "models": len(flat.names)}
        rows.append(
            row
            | {
                name: f"{mine} ({base})"
                for name, mine, base in zip(names, ours, BASELINE[title], strict=True)
            }
        )
    record(
        "compare-leaderboards",
        "Real leaderboards: pairs told apart",
        rows,
        notes=[
            (
                "Pairs told apart by a family-wise method over all pairs (max-T with"
                f" {DRAWS:,} draws: another seed moves a count by one at most); in brackets the"
                " figures expected"
            ),
            *_alpaca_notes(found["AlpacaEval"][0]),
        ],
    )


def _alpaca_notes(board: Board) -> list[str]:
    """Say what moves AlpacaEval's count: the draws, the 8 items with a missing score, the variance
    in the statistic.
    """
    x, n = board.scores, board.n
    by_seed = Counter(_told_apart(x, draws=10_000, seed=seed) for seed in range(20))
    tests = pairwise_max_t(x.sum(axis=0), x.T @ x, n, rng=0, draws=DRAWS, width=1.0)
    near = np.sort(tests.adjusted_p[(tests.adjusted_p > 0.045) & (tests.adjusted_p < 0.055)])
    full = _alpaca()[1]
    filled = {
        word: _told_apart(np.where(np.isnan(full), value, full), draws=DRAWS, seed=0)
        for word, value in (
            ("0", 0.0),
            ("1/2", 0.5),
            ("1", 1.0),
            ("the model's mean", np.nanmean(full, axis=0)),
        )
    }
    # The sample variance instead of that under equality makes every |T| larger, and keeps their
    # order.
    sample = np.abs(tests.statistic) / np.sqrt((1 - tests.statistic**2 / n) * n / (n - 1))
    order = np.argsort(sample, kind="stable")
    covariance = np.cov(x.T, bias=True)
    reached, _ = step_down(
        covariance,
        tests.first[order],
        tests.second[order],
        sample[order],
        DRAWS,
        np.random.default_rng(0),
    )
    looser = int((np.maximum.accumulate(reached[::-1] / DRAWS) <= 0.05).sum())
    return [
        (
            "AlpacaEval: 8 of 805 items lack a score of some model and are left out, nothing is"
            " filled in"
        ),
        "AlpacaEval, all pairs: the 1062 expected lies within the noise of 10,000 draws; 20 seeds"
        " give (times) "
        + ", ".join(f"{count} ({times})" for count, times in sorted(by_seed.items()))
        + f". Adjusted p-values between .045 and .055: {', '.join(f'{p:.4f}' for p in near)}",
        f"AlpacaEval, other conventions: {looser} with the sample variance in the statistic;"
        " missing scores filled by "
        + ", ".join(f"{word}: {count}" for word, count in filled.items()),
    ]


def _told_apart(x: np.ndarray, *, draws: int, seed: int) -> int:
    tests = pairwise_max_t(x.sum(axis=0), x.T @ x, len(x), rng=seed, draws=draws, width=1.0)
    return int((tests.adjusted_p <= 0.05).sum())


def partial(found: dict[str, tuple[Board, CompareQuestion]]) -> None:
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
            (
                "Right/wrong scores stand for answers: two models that are both right or both wrong"
                " count as agreeing"
            ),
            "Expected: a median pair .34-.66, the first two .67-.82, a leaderboard of 30 about 0",
            (
                "pairs identical: difference, interval and p-value from labels on disagreements"
                " alone are those from all"
            ),
        ],
    )


def _identical(board: Board, pair: np.ndarray) -> bool:
    """Compare the first two with all labels, and with labels on their disagreements alone."""
    x = board.scores[:, pair]
    names = [board.names[j] for j in pair]
    answers = {
        name: np.where(x[:, j] == 1, "right", "wrong").tolist() for j, name in enumerate(names)
    }
    apart = x[:, 0] != x[:, 1]
    full = evaluate({"gold": ["right"] * len(x), **answers}, truth="gold").pairs[0]
    some = evaluate(
        {"gold": ["right" if a else None for a in apart], **answers},
        truth="gold",
        population="new",
    ).pairs[0]
    return (full.difference, tuple(known(full.interval)), full.p_value) == (
        some.difference,
        tuple(known(some.interval)),
        some.p_value,
    )


def pictures() -> None:
    """Draw the chapter's pictures for the theory page: Figure 3.1, and how items, difference and
    models trade.
    """
    drawn = {
        "coins-1000": coin.coin_figure(1000),
        "coins-10000": coin.coin_figure(10_000),
        "trade-off": trade_off_figure(models=(2, 30, 1000)),
    }
    for name, figure in drawn.items():
        print(f"{name}: {figure.title}")
        if "--write" in sys.argv:
            Plot(figure).save(ROOT / "docs" / "pictures" / f"compare-{name}.svg")


def main() -> None:
    pictures()
    found = boards()
    leaderboards(found)
    partial(found)


if __name__ == "__main__":
    main()
