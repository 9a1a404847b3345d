"""Do these judges err independently? A test that can say no, and never yes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.noisy_judges.baselines import (
    RankOne,
    rank_one,
    spectral_errors,
    spectral_point,
)
from tallystick.papers.noisy_judges.correlated_judges import (
    blind_spots,
    error_correlation,
    independence_test,
    nearly_independent,
)
from tallystick.papers.noisy_judges.trio_quadratic import trio_moments
from tallystick.results import Figure, Interval, Result, Unknown
from tallystick.stats.latent_checks import agreement_z
from tallystick.stats.latent_fit import fit
from tallystick.stats.latent_model import LatentOptions
from tallystick.stats.maxt import holm
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.table.panel import Panel
from tallystick.verbs.judge.independent import logit_ends, solve, trio_alarms, trio_counts
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import Alarm, JudgeScore, LabelScore, Number, Range, Share
from tallystick.verbs.judge.verdict import INDEPENDENCE, SENSIBLE, SHARED_BIAS
from tallystick.verbs.judge.verdict_methods import (
    independence_verdict,
    of_baseline,
    search_verdict,
)

_QUICK = LatentOptions(tolerance=1e-6, strict=False)


@dataclass(frozen=True, kw_only=True)
class IndependenceResult(Result):
    """Whether the votes refute independent errors.

    Parameters
    ----------
    rejected
        Whether they do, over all quartets tested, with the family-wise error alpha.
    quartets
        One mapping a quartet: judges, G², degrees of freedom, p-value, adjusted p-value.
    n_rejected
        Quartets that reject on their own at alpha.
    pair
        The two judges whose votes move together most beyond what their quality explains.
    pair_correlation
        Their estimated error correlation given the label.
    effective_judges
        How many independent judges these are worth.
    """

    verb: ClassVar[str] = "judge"

    rejected: bool
    quartets: tuple[dict[str, Any], ...]
    n_rejected: int
    pair: tuple[str, str]
    pair_correlation: Number
    effective_judges: Number

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a quartet, the worst first."""
        return [{**row, "judges": ", ".join(row["judges"])} for row in self.quartets]

    def figures(self) -> tuple[Figure, ...]:
        """Return the adjusted p-values of the worst quartets."""
        shown = self.quartets[:20]
        return (
            Figure(
                kind="forest",
                title="Quartets that fit independence least",
                columns={
                    "quartet": [", ".join(row["judges"]) for row in shown],
                    "p": [row["p_value"] for row in shown],
                },
                roles={"name": "quartet", "x": "p"},
                labels={"x": "p-value"},
            ),
        )


def independence(
    votes: Tally | Panel,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    alpha: float = 0.05,
    most: int = 100,
    least_items: int = 50,
    rng: Rng = 0,
) -> IndependenceResult:
    r"""Test independent errors on quartets of judges.

    Each quartet has a G² (`tallystick.papers.noisy_judges.correlated_judges`), and quartets are
    combined by Holm's rule. For two labels the pair at fault is the one with the largest error
    correlation :math:`\rho_{ij}`; :math:`J^2 / \sum_{ij} \max(0, \rho_{ij})` judges would be as
    good as these J.

    A rejection proves that some judges err together. A pass proves nothing: a bias that all judges
    share is absorbed into what is taken for the truth.

    Parameters
    ----------
    votes, judges, truth, labels
        The tally; which columns judge; a column to leave aside; labels that nobody voted for.
    alpha
        Family-wise error.
    most
        At most this many quartets, drawn at random if there are more.
    least_items
        Quartets with fewer common items are passed over.
    rng
        For the draw of quartets.

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={name: ("4/5", "3/4") for name in "wxyz"})
    >>> independence(simulate(point).tally, truth="truth").rejected
    False
    """
    panel = Panel.of(votes, voters=judges, truth=truth, labels=labels).answered.blind
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
    if len(panel.names) < 4:
        raise NotIdentifiable(
            f"{len(panel.names)} judges can be explained by independent errors whatever they"
            " vote: a test needs four"
        )
    rows = _quartets(panel, most, least_items, as_rng(rng))
    if not rows:
        raise NotIdentifiable(
            f"no quartet of judges shares {least_items} items: lower least_items or collect more"
            " votes"
        )
    p_values = np.array([row["p_value"] for row in rows])
    for row, adjusted in zip(rows, holm(p_values).tolist(), strict=True):
        row["adjusted_p"] = adjusted
    rows.sort(key=lambda row: float(row["p_value"]))
    rejected = rows[0]["adjusted_p"] < alpha
    n_rejected = int((p_values < alpha).sum())
    pair, correlation, effective = _blame(panel)
    return IndependenceResult(
        verdict=independence_verdict(
            rejected=rejected,
            against=n_rejected,
            quartets=len(rows),
            pair=pair,
            judges=len(panel.names),
            worth=effective,
        ),
        decision="decided" if rejected else "undecided",
        n_items=round(panel.n),
        assumptions=(
            "items are independent draws",
            "a vote is not missing because it would be right or wrong",
        ),
        warnings=(SHARED_BIAS,),
        seed=seed_of(rng),
        rejected=rejected,
        quartets=tuple(rows),
        n_rejected=n_rejected,
        pair=pair,
        pair_correlation=correlation,
        effective_judges=effective,
    )


def _quartets(
    panel: Panel, most: int, least_items: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    n, n_classes = len(panel.names), len(panel.classes)
    total = n * (n - 1) * (n - 2) * (n - 3) // 24
    if total <= most:
        chosen = list(itertools.combinations(range(n), 4))
    else:
        chosen = sorted(
            {tuple(sorted(rng.choice(n, 4, replace=False).tolist())) for _ in range(most)}
        )
    rows: list[dict[str, Any]] = []
    for four in chosen:
        codes = panel.codes[:, four]
        items = panel.counts[(codes >= 0).all(axis=1)].sum()
        if items < least_items:
            continue
        try:
            g2, freedom, p_value = independence_test(codes, panel.counts, n_labels=n_classes)
        except NotIdentifiable:
            continue  # a judge that never varies here: nothing can be tested
        rows.append(
            {
                "judges": tuple(panel.names[j] for j in four),
                "items": int(items),
                "g2": g2,
                "freedom": freedom,
                "p_value": p_value,
            }
        )
    return rows


def _blame(panel: Panel) -> tuple[tuple[str, str], Number, Number]:
    """Return the pair that moves together most, its error correlation, and the effective number of
    judges.
    """
    n = len(panel.names)
    if len(panel.classes) > 2:
        z = np.nan_to_num(
            agreement_z(
                fit(panel.codes, panel.counts, n_classes=len(panel.classes), options=_QUICK)
            )
        )
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(z)), z.shape))
        why = Unknown("error correlations are estimated for two labels only")
        return (panel.names[min(i, j)], panel.names[max(i, j)]), why, why
    rho = error_correlation(trio_moments(panel.codes, panel.counts))
    off = np.where(np.eye(n, dtype=bool), -np.inf, np.nan_to_num(rho, nan=-np.inf))
    i, j = (int(k) for k in np.unravel_index(int(off.argmax()), off.shape))
    effective = n * n / np.clip(np.nan_to_num(rho), 0, 1).sum()
    pair = (panel.names[min(i, j)], panel.names[max(i, j)])
    return (
        pair,
        float(off[i, j]) if np.isfinite(off[i, j]) else Unknown("no tetrad can be solved"),
        float(effective),
    )


# The spectral baseline: votes covary like a matrix of rank one.


def spectral(
    votes: Tally | Panel,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    alpha: float = 0.05,
) -> JudgeResult:
    """Grade binary judges by the leading eigenvector of their covariances.

    The assumption is that of ``independent``, with all trios used at once
    (`tallystick.papers.noisy_judges.baselines.spectral_point`). Intervals are the delta method's on
    the logit scale, for complete votes; their coverage under the assumption is measured in
    docs/benchmarks/judge.md.

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> accuracy = {"w": ("9/10", "4/5"), "x": ("3/4", "3/4"), "y": ("2/3", "4/5"), "z": ("1/2", "4/5")}
    >>> result = spectral(simulate(Point(prevalence="1/4", accuracy=accuracy)).tally, truth="truth")
    >>> [round(part.estimate, 6) for part in result.judges[0].per_label.values()]
    [0.9, 0.8]
    """
    panel = Panel.of(votes, voters=judges, truth=truth, labels=labels).answered.blind
    panel.require_binary("spectral")
    if len(panel.names) < 3:
        raise NotIdentifiable(
            f"spectral needs three judges, got {len(panel.names)}: add judges or label some items"
        )
    rank = rank_one(trio_moments(panel.codes, panel.counts))
    balance, accuracy = spectral_point(rank)
    overall = accuracy @ [balance, 1 - balance]
    of_balance, of_accuracy, of_overall = interval_ends(panel, rank, alpha=alpha)
    scores = tuple(
        JudgeScore(
            name=name,
            accuracy=float(overall[j]),
            interval=of_overall[j],
            per_label={
                key: LabelScore(estimate=float(accuracy[j, c]), interval=of_accuracy[j][c])
                for c, key in enumerate(panel.keys)
            },
            votes=float(panel.voted[j]),
        )
        for j, name in enumerate(panel.names)
    )
    flipped = (
        of_balance
        if isinstance(of_balance, Unknown)
        else _under(1 - of_balance.high, 1 - of_balance.low, alpha)
    )
    return JudgeResult(
        verdict=of_baseline(
            scores, "errors were independent", "Nothing here tests that (spectral)."
        ),
        decision="undecided",
        n_items=round(panel.n),
        assumptions=(INDEPENDENCE, "judges are better than chance taken together"),
        warnings=(
            SHARED_BIAS,
            *((f"no intervals: {of_balance}",) if isinstance(of_balance, Unknown) else ()),
        ),
        method="spectral",
        judges=scores,
        prevalence={
            panel.keys[0]: Share(estimate=balance, interval=of_balance),
            panel.keys[1]: Share(estimate=1 - balance, interval=flipped),
        },
    )


def interval_ends(
    panel: Panel, rank: RankOne, *, alpha: float
) -> tuple[Range, list[list[Range]], list[Range]]:
    """Return intervals of the prevalence, by judge and label, and by judge; or the reason why there
    are none.
    """
    balance, accuracy = spectral_point(rank)
    overall = accuracy @ [balance, 1 - balance]
    if not panel.complete:
        none = Unknown(
            "some votes are missing, which this interval does not allow for; dawid_skene's does"
        )
        return none, [[none, none] for _ in overall], [none for _ in overall]
    z = NormalDist().inv_cdf(1 - alpha / 2)
    try:
        errors = spectral_errors(panel.codes, panel.counts, rank)
    except np.linalg.LinAlgError:
        none = Unknown("a judge decides nothing here, so that the estimates have no slope; drop it")
        return none, [[none, none] for _ in overall], [none for _ in overall]

    def interval(value: float, error: float) -> Range:
        low, high = logit_ends(value, error, z).tolist()
        return (
            _under(low, high, alpha)
            if np.isfinite([low, high]).all()
            else Unknown("the estimate is on the edge")
        )

    return (
        interval(balance, errors[0]),
        [[interval(accuracy[j, c], errors[1][j, c]) for c in (0, 1)] for j in range(len(overall))],
        [interval(overall[j], errors[2][j]) for j in range(len(overall))],
    )


def _under(low: float, high: float, alpha: float) -> Interval:
    return Interval(
        low,
        high,
        level=1 - alpha,
        guarantee="under",
        assumption=INDEPENDENCE,
        method="delta method",
    )


# Search many judges for trios that could be independent, and say how each of the others fails.


@dataclass(frozen=True, kw_only=True)
class SearchResult(Result):
    """Every trio of judges, solved; the best-conditioned sensible ones are shown.

    Parameters
    ----------
    trios
        How many ended how.
    found
        One mapping a sensible trio: judges, prevalence of the first label, accuracies, condition
        number.
    by_judge
        Judge to the share of its trios that are sensible.
    alarms
        What the failures prove.
    """

    verb: ClassVar[str] = "judge"

    trios: Mapping[str, int]
    found: tuple[dict[str, Any], ...]
    by_judge: Mapping[str, float]
    alarms: tuple[Alarm, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a trio shown; accuracies in the order of judges, by label."""
        return [
            {
                "judges": ", ".join(row["judges"]),
                "prevalence": row["prevalence"],
                "accuracy": ", ".join(
                    "/".join(f"{value:.3f}" for value in parts.values())
                    for parts in row["accuracy"].values()
                ),
                "condition": row["condition"],
            }
            for row in self.found
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the share of sensible trios by judge."""
        return (
            Figure(
                kind="forest",
                title="Share of each judge's trios with a sensible solution",
                columns={"judge": list(self.by_judge), "share": list(self.by_judge.values())},
                roles={"name": "judge", "x": "share"},
            ),
        )


def search(
    votes: Tally | Panel,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    limit: int = 20,
) -> SearchResult:
    """Solve every trio, reject those that cannot be independent, and rank the rest by how little
    correlation could do.

    A trio without a sensible solution is too correlated. That a trio is sensible is no evidence
    that it is independent (`tallystick.papers.noisy_judges.correlated_judges.nearly_independent`).

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={"w": ("9/10", "4/5"), "x": ("3/4", "3/4"), "y": ("2/3", "4/5")})
    >>> result = search(simulate(point).tally, truth="truth")
    >>> result.trios["sensible"], result.found[0]["judges"]
    (1, ('w', 'x', 'y'))
    """
    panel = Panel.of(votes, voters=judges, truth=truth, labels=labels).answered.blind
    trios = solve(panel)
    counts = trio_counts(trios, panel)
    condition = blind_spots(trios).condition
    good = trios.status == "sensible"
    found = tuple(
        {
            "judges": tuple(panel.names[j] for j in trios.judges[t]),
            "prevalence": float(trios.balance[t]),
            "accuracy": {
                panel.names[j]: {
                    key: float(trios.accuracy[t, a, c]) for c, key in enumerate(panel.keys)
                }
                for a, j in enumerate(trios.judges[t].tolist())
            },
            "condition": float(condition[t]),
        }
        for t in nearly_independent(trios, limit=limit).tolist()
    )
    members = np.stack([(trios.judges == j).any(axis=1) for j in range(len(panel.names))])
    shares = members @ good / members.sum(axis=1)
    return SearchResult(
        verdict=search_verdict(int(good.sum()), len(good)),
        decision="undecided",
        n_items=round(panel.n),
        assumptions=(INDEPENDENCE,),
        warnings=(SHARED_BIAS, SENSIBLE),
        trios=counts,
        found=found,
        by_judge=dict(zip(panel.names, shares.tolist(), strict=True)),
        alarms=trio_alarms(counts),
    )
