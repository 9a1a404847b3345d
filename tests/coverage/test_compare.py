"""Coverage of everything that ``compare`` promises: enumerated where it can be, simulated with a
seed where not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln, ndtri, xlogy

from tallystick.stats.bets import e_holm
from tallystick.stats.intervals import pseudo_t
from tallystick.stats.pairs import fit_scores, pairs_of_items
from tallystick.stats.signs import ranks, sign_log_e
from tallystick.stats.two_accuracies import exact_score, tango
from tallystick.table import Moments
from tallystick.verbs.compare import Board, CompareQuestion, rank

RUNS = 2000
STREAMS = 4000
DISAGREEMENTS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
LEANS = (0.5, 0.6, 0.75, 0.9, 1.0)


def outcomes(n, d):
    """Every (b, c) that matters at disagreement d: the rest weighs less than 1e-12."""
    reach = 8 * np.sqrt(n * d * (1 - d)) + 12
    low, high = max(0, int(n * d - reach)), min(n, int(n * d + reach) + 1)
    m = np.arange(low, high + 1)
    b = np.concatenate([np.arange(size + 1) for size in m])
    return b, np.repeat(m, m + 1) - b


def masses(b, c, n, d, lean):
    ways = gammaln(n + 1) - gammaln(b + 1) - gammaln(c + 1) - gammaln(n - b - c + 1)
    return np.exp(ways + xlogy(b, d * lean) + xlogy(c, d * (1 - lean)) + xlogy(n - b - c, 1 - d))


def covered(low, high, truth, weights):
    return float(weights[(low <= truth + 1e-9) & (truth - 1e-9 <= high)].sum())


@pytest.mark.slow
def test_the_exact_interval_never_covers_less_and_tango_does_on_average(publish_coverage):
    rows = []
    for n in (20, 50, 100, 200, 500, 1000, 2000):
        cells = {"tango": [], "exact": []}
        known = {}
        for d in DISAGREEMENTS:
            b, c = outcomes(n, d)
            approximate = tango(b, c, n)
            ends = {"tango": (approximate.low, approximate.high)}
            if n <= 200:
                for pair in zip(b.tolist(), c.tolist(), strict=True):
                    if pair not in known:
                        found = exact_score(*pair, n)
                        known[pair], known[pair[::-1]] = (
                            (found.low, found.high),
                            (
                                -found.high,
                                -found.low,
                            ),
                        )
                exact = np.array([known[pair] for pair in zip(b.tolist(), c.tolist(), strict=True)])
                ends["exact"] = (exact[:, 0], exact[:, 1])
            for lean in LEANS:
                weights = masses(b, c, n, d, lean)
                for name, (low, high) in ends.items():
                    cells[name].append(covered(low, high, d * (2 * lean - 1), weights))
        rows.append(
            {"items": n}
            | {
                f"{name} {word}": float(value(cells[name])) if cells[name] else ""
                for name in cells
                for word, value in (("mean", np.mean), ("minimum", np.min))
            }
        )
    publish_coverage(
        "pairs",
        "Intervals for the difference of two accuracies on the same items at nominal .95, every"
        f" outcome enumerated, over disagreements {DISAGREEMENTS} and shares {LEANS} of them that"
        " favour the first model (30 cells an n). The exact interval is enumerated up to n = 200.",
        rows,
    )
    assert min(row["exact minimum"] for row in rows if row["exact minimum"] != "") >= 0.95
    assert np.mean([row["tango mean"] for row in rows]) >= 0.945
    assert min(row["tango minimum"] for row in rows) >= 0.92


@pytest.mark.slow
def test_bounded_scores_of_real_models_are_covered(shared_data, publish_coverage):
    import pyarrow.parquet as pq

    table = pq.read_table(shared_data / "compare" / "alpaca_eval2_winrate_805x.parquet")
    names = [name for name in table.column_names if name not in ("item_id", "dataset")]
    scores = np.stack([table[name].to_numpy() for name in names], axis=1).astype(float)
    scores = scores[~np.isnan(scores).any(axis=1)]
    first, second = np.triu_indices(len(names), 1)
    gaps = scores[:, first] - scores[:, second]
    truth = gaps.mean(axis=0)
    rng = np.random.default_rng(11)
    rows = []
    for n in (50, 100, 200, 400, 805):
        inside = np.zeros(len(truth))
        plain = np.zeros(len(truth))
        for _ in range(4):  # in blocks: 500 x 1653 means at a time
            counts = rng.multinomial(n, np.full(len(gaps), 1 / len(gaps)), size=RUNS // 4).astype(
                float
            )
            means = counts @ gaps / n
            variances = np.maximum(0, counts @ gaps**2 - n * means**2) / (n - 1)
            found = pseudo_t(means, variances, n, bounds=(-1.0, 1.0))
            inside += found.covers(truth).sum(axis=0)
            half = 1.96 * np.sqrt(variances / n)
            plain += (np.abs(means - truth) <= half).sum(axis=0)
        rows.append(
            {
                "items": n,
                "mean": float(inside.mean() / RUNS),
                "worst pair": float(inside.min() / RUNS),
                "worst pair, plain z": float(plain.min() / RUNS),
            }
        )
    publish_coverage(
        "bounded-scores",
        "t with half a pseudo-item at each end, nominal .95: differences of the win probabilities"
        f" of 1653 pairs of models (compare/alpaca_eval2_winrate_805x.parquet), {RUNS} samples with"
        " replacement, the truth being the mean over all items.",
        rows,
    )
    assert min(row["mean"] for row in rows) >= 0.945
    assert min(row["worst pair"] for row in rows) >= 0.92


@pytest.mark.slow
def test_weighted_items_speak_for_the_population_that_they_weigh(publish_coverage):
    rows = []
    for kind in ("right or wrong", "grades"):
        truth = _graded_models(200_000, kind, np.random.default_rng(1))[0].mean(axis=0)
        for n in (20, 50, 300):
            for spread in (0.3, 1.0):
                rng = np.random.default_rng([n, int(10 * spread), len(kind)])
                found = np.mean(
                    [_weighted_run(n, kind, spread, truth, rng) for _ in range(RUNS)], 0
                )
                row = {"scores": kind, "items": n, "spread of log weights": spread}
                rows.append(row | {"score": float(found[0]), "difference": float(found[1])})
    publish_coverage(
        "weighted",
        f"Items drawn with chances that depend on their difficulty, weighted by one over the chance,"
        f" nominal .95, {RUNS} runs: coverage of the score of a model and of the difference of two.",
        rows,
    )
    for row in rows:
        assert min(row["score"], row["difference"]) >= 0.91, row


def _graded_models(n, kind, rng):
    """Return the scores of two models on n items, and how easy each item is."""
    easy = rng.normal(0, 1, (n, 1))
    level = easy + rng.normal(0, 1, (n, 2)) + [0.3, 0.0]
    if kind == "grades":
        return np.clip(np.round(2 * level + 2), 0, 4) / 4, easy[:, 0]
    return (level > -0.5).astype(float), easy[:, 0]


def _weighted_run(n, kind, spread, truth, rng):
    scores, easy = _graded_models(8 * n, kind, rng)
    chance = np.clip(0.3 * np.exp(-spread * (0.7 * easy + 0.7 * rng.normal(size=8 * n))), 0.01, 1.0)
    drawn = np.flatnonzero(rng.random(8 * n) < chance)[:n]
    weights, bounds = 1 / chance[drawn], (0.0, 1.0)
    found = fit_scores(
        scores[drawn], bounds=bounds, weights=weights, pass_fail=kind == "right or wrong"
    )
    own, gap = found.means().interval[0], found.difference(0, 1).interval[0]
    return truth[0] in own, truth[0] - truth[1] in gap


@pytest.mark.slow
def test_all_true_ranks_are_covered_with_exact_ties(publish_coverage):
    rows = []
    for k in (20, 40, 60):
        for tied in ("five groups", "all"):
            levels = np.linspace(0.45, 0.8, 5) if tied == "five groups" else [0.6]
            for shared in (0.0, 0.7):
                found = _rank_coverage(np.repeat(levels, k // len(levels)), shared, seed=k)
                rows.append({"models": k, "tied": tied, "correlation": shared} | found)
    publish_coverage(
        "ranks",
        f"{RUNS} runs a row, 500 items, step-down max-T with 1000 draws, nominal .95. *All ranks*:"
        " share of runs in which every rank interval holds every rank that its model truly has"
        " (exactly tied models share their ranks). *Family-wise error*: share of runs in which any"
        " pair is told apart that is tied, or told apart the wrong way. Tied: five groups of"
        " exactly tied models (.45 to .8 right), or all (.6). Correlation is that of the latent"
        " difficulty of items.",
        rows,
    )
    error = 3 * np.sqrt(0.05 * 0.95 / RUNS)
    for row in rows:
        assert row["all ranks"] >= 0.95 - error, row
        assert row["family-wise error"] <= 0.05 + error, row


def _rank_coverage(accuracy, shared, seed):
    rng = np.random.default_rng([seed, int(10 * shared), len(set(accuracy))])
    k, n = len(accuracy), 500
    low = 1 + (accuracy[None, :] > accuracy[:, None]).sum(axis=1)
    high = k - (accuracy[None, :] < accuracy[:, None]).sum(axis=1)
    good = wrong = 0
    cut = ndtri(accuracy)
    for _ in range(RUNS):
        latent = np.sqrt(shared) * rng.standard_normal((n, 1)) + np.sqrt(
            1 - shared
        ) * rng.standard_normal((n, k))
        scores = (latent < cut).astype(float)
        moments = Moments.of({str(j): scores[:, j] for j in range(k)})
        table = pairs_of_items(moments, bounds=None, alpha=0.05, rng=rng, draws=1000)
        told = np.where(table.adjusted_p <= 0.05, np.sign(table.difference), 0)
        found = ranks(
            table.first, table.second, told, np.argsort(-scores.mean(axis=0), kind="stable")
        )
        good += bool(np.all((found.low <= low) & (found.high >= high)))
        truly = np.sign(accuracy[table.first] - accuracy[table.second])
        wrong += bool(np.any((told != 0) & (told != truly)))
    return {"all ranks": good / RUNS, "family-wise error": wrong / RUNS}


@pytest.mark.slow
def test_a_sequential_comparison_stops_falsely_no_more_often_than_it_may(publish_coverage):
    rng = np.random.default_rng(3)
    rows = []
    for models, items, d in ((2, 5000, 0.05), (2, 5000, 0.2), (2, 5000, 0.5), (5, 2000, 0.42)):
        false = peeking = 0
        for _ in range(STREAMS):
            scores = _equal_models(models, items, d, rng)
            first, second = np.triu_indices(models, 1)
            gaps = scores[:, first] - scores[:, second]  # in random order already
            path = sign_log_e(np.cumsum(gaps > 0, axis=0), np.cumsum(gaps < 0, axis=0))
            false += bool((e_holm(np.maximum(0.0, path.max(axis=0))) <= 0.05).any())
            gap = gaps[:, 0]
            lead, m = np.cumsum(gap), np.cumsum(gap != 0)
            peeking += bool(np.any((np.abs(lead) > 1.96 * np.sqrt(m)) & (m >= 10)))
        rows.append(
            {"models": models, "items": items, "disagreement": d, "runs": STREAMS}
            | {"false stops": false / STREAMS, "false stops of a z test": peeking / STREAMS}
        )
    publish_coverage(
        "stop-early",
        "Equally good models, compared by `--stop-early` and looked at after every item, α ="
        " .05: how often any pair is ever told apart, and how often a z test of the first pair at"
        " 1.96 (from the tenth disagreement on) tells it apart.",
        rows,
    )
    for row in rows:
        assert row["false stops"] <= 0.05, row


def _equal_models(models, items, d, rng):
    """Return right/wrong scores of equally good models any two of which disagree on a share d of
    the items."""
    if models > 2:
        right = (1 + np.sqrt(1 - 2 * d)) / 2  # independent models disagree on 2 p (1 - p)
        return (rng.random((items, models)) < right).astype(float)
    u = rng.random(items)
    return np.stack([u >= d / 2, (u < d / 2) | (u >= d)], axis=1).astype(float)


@pytest.mark.slow
def test_labels_drawn_among_the_disagreements_cover_the_difference(publish_coverage):
    rng = np.random.default_rng(9)
    rows = []
    for n, d, lean, share in (
        (400, 0.2, 0.5, 0.5),
        (400, 0.2, 0.75, 0.25),
        (1000, 0.3, 0.6, 0.2),
        (2000, 0.1, 0.9, 0.3),
    ):
        inside = {"these": 0, "new": 0}
        for _ in range(RUNS):
            apart = rng.random(n) < d
            answers = np.stack([np.zeros(n), apart], axis=1).astype(np.int32)
            truth = np.where(apart, rng.random(n) >= lean, 0).astype(np.int32)
            places = np.flatnonzero(apart)
            known = rng.permutation(places)[: max(2, int(share * len(places)))]
            gold = np.full(n, -1, np.int32)
            gold[known] = truth[known]
            scores = np.where(gold[:, None] < 0, np.nan, answers == gold[:, None])
            board = Board(
                names=("a", "b"), scores=scores, answers=answers, gold=gold, drawn="disagreements"
            )
            real = float(np.mean(answers[:, 0] == truth) - np.mean(answers[:, 1] == truth))
            for population, wanted in (("these", real), ("new", d * (2 * lean - 1))):
                found = rank(board, question=CompareQuestion(population=population)).pairs[0]
                low, high = found.interval if found.a == "a" else -np.array([*found.interval])[::-1]
                inside[population] += low - 1e-12 <= wanted <= high + 1e-12
        row = {"items": n, "disagreement": d, "first wins": lean, "labelled": share}
        rows.append(row | {f"{name} items": held / RUNS for name, held in inside.items()})
    publish_coverage(
        "partial-labels",
        f"Labels on a random share of the disagreements only, nominal .95, {RUNS} runs: the"
        " difference on these items and on new ones.",
        rows,
    )
    assert min(row["new items"] for row in rows) >= 0.925
    assert min(row["these items"] for row in rows) >= 0.925
