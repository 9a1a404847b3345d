"""How often an API that answers at random is called changed, when it is not and when it is.

    python -m benchmarks.truth.shift_noise [SECTION…] [--runs 200] [--keep FILE] [--write]

--keep FILE goes on from the rows of an earlier, stopped call; verdicts --kept-only shows those that
are there. Sections: verdicts (the whole product on a small grid), gate (the watched gate on flips),
unchanged (noise 5, 15 and 30 %, 500-2000 items, budgets of 25-100 %), changed (accuracy falls by
about 3 points, beside an oracle that knows the noise), flips (the flip rate on real, deterministic
changes; needs TALLYSTICK_DATA). Figures are coverage / half-width in points / share of runs that
say "better or worse". Peers draw uniformly, with as many calls as ours.
"""

from __future__ import annotations

import sys
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binomtest

from benchmarks.known import known
from benchmarks.record import kept_row, record
from benchmarks.truth.noise_cases import LABELS, Run, World, assess, world
from tallystick.clients import Client
from tallystick.sampling import Budget, Flips, Observed, Plan, history_cells, replay
from tallystick.verbs.shift.design import BLIND_SHARE, FLIP_HULL, SumBounds, sum_bounds
from tallystick.verbs.shift.noise import beyond_noise, chance_p_value
from tallystick.verbs.shift.noisy import blind_gap, flip_rate_bounds, sample_of, stretched

Z = 1.959964
SEED = 16
"""Of the draws; no rule was fixed on them."""


class Score:
    """Coverage, half-width and verdicts of one interval over many runs."""

    def __init__(self) -> None:
        self.rows: list[tuple[bool, float, bool]] = []

    def add(self, low: float, high: float, truth: float) -> None:
        """Note one interval. A rounding error is no miss: with every item asked ends are exact."""
        slack = 1e-9
        self.rows.append(
            (low - slack <= truth <= high + slack, (high - low) / 2, low > slack or high < -slack)
        )

    @property
    def coverage(self) -> float:
        """The share of runs whose interval holds the truth."""
        return float(np.mean([row[0] for row in self.rows]))

    @property
    def says(self) -> float:
        """The share of runs whose interval excludes 0."""
        return float(np.mean([row[2] for row in self.rows]))

    def __str__(self) -> str:
        half = 100 * np.mean([row[1] for row in self.rows])
        return f"{self.coverage:.3f} / {half:.2f} / {self.says:.3f}"


def uniform(case: World, old: np.ndarray, calls: int, rng: np.random.Generator) -> np.ndarray:
    """Return d of uniformly drawn items, each asked once."""
    items = rng.permutation(len(old))[: min(calls, len(old))]
    new = case.new.answers(rng)
    return np.asarray(
        (new[items] == case.truth[items]).astype(float) - (old[items] == case.truth[items])
    )


def ends(bounds: SumBounds) -> tuple[float, float]:
    return float(bounds.low), float(bounds.high)


class Cell:
    """All runs on one population at one budget."""

    def __init__(self, case: World) -> None:
        self.case = case
        names = ("present", "ours", "full", "paired", "flips", "beyond", "oracle")
        self.scores = {name: Score() for name in names}
        self.mcnemar: list[bool] = []
        self.chance: list[bool] = []
        self.proved: list[bool] = []
        self.proved_alone: list[bool] = []
        self.shares: list[float] = []
        self.entries: dict[tuple[int, int], list[bool]] = {}

    def run(self, calls: int, rng: np.random.Generator) -> None:
        """Draw the old answers, assess the new API, and let the peers do so."""
        case, scores = self.case, self.scores
        old = case.old.answers(rng)
        run = assess(case, old, calls, rng)
        scores["present"].add(*ends(run.present()), case.accuracy)
        scores["ours"].add(*ends(run.accuracy()), case.accuracy)
        scores["full"].add(*ends(run.accuracy(1.0)), case.accuracy)
        flips = run.flips()
        scores["flips"].add(*ends(flips), case.flips)
        beyond = beyond_noise(flips, run.repeats.flips())
        scores["beyond"].add(float(beyond.low), float(beyond.high), case.beyond)
        self.chance.append(float(chance_p_value(*run.repeats.flips().decided)) <= 0.05)
        self.shares.append(run.accuracy_share)
        self._entries(run)

        d = uniform(case, old, run.calls, rng)
        mean, error = d.mean(), d.std(ddof=1) / np.sqrt(len(d))
        scores["paired"].add(mean - Z * error, mean + Z * error, case.accuracy)
        known = np.sqrt(case.variance(len(d)))
        scores["oracle"].add(mean - Z * known, mean + Z * known, case.accuracy)
        gains, losses = int((d > 0).sum()), int((d < 0).sum())
        self.mcnemar.append(
            bool(gains + losses and binomtest(gains, gains + losses).pvalue <= 0.05)
        )

    def _entries(self, run: Run) -> None:
        truth = self.case.matrix
        found = run.entries(0.05)
        for i, j, low, high in zip(
            run.counts.true, run.counts.answer, found.low, found.high, strict=True
        ):
            inside = low - 1e-9 <= truth[i, j] <= high + 1e-9
            self.entries.setdefault((int(i), int(j)), []).append(bool(inside))
        # A cell is called proved at α over the number of possible cells.
        level = 0.05 / (len(LABELS) * (len(LABELS) + 1))
        for joint, noted in ((True, self.proved), (False, self.proved_alone)):
            sure = run.entries(level, joint=joint)
            noted.append(bool(((sure.low > 1e-9) | (sure.high < -1e-9)).any()))

    def row(self, title: str, *, oracle: bool) -> dict[str, Any]:
        """Return the figures of the page's table."""
        s = self.scores
        cells = [np.mean(hits) for hits in self.entries.values()]
        row = {
            "population, N of M": title,
            "present": str(s["present"]),
            "ours": str(s["ours"]),
            "λ = 1": str(s["full"]),
            "paired normal": str(s["paired"]),
            "McNemar says": float(np.mean(self.mcnemar)),
        }
        if oracle:
            row["oracle says"] = s["oracle"].says
        return row | {
            "chance test says": float(np.mean(self.chance)),
            "some cell proved": float(np.mean(self.proved)),
            "the same, own λ only": float(np.mean(self.proved_alone)),
            "flips cover": s["flips"].coverage,
            "beyond noise covers": s["beyond"].coverage,
            "entries, mean / worst": f"{np.mean(cells):.3f} / {min(cells):.3f}",
            "mean λ": float(np.mean(self.shares)),
        }


def table(runs: int, noises: tuple[float, ...], changed: float) -> list[dict[str, Any]]:
    rows = []
    for noise in noises:
        for items in (500, 1000, 2000):
            seed = [items, round(100 * noise), SEED]
            case = world(items, noise, changed, np.random.default_rng(seed))
            for part in (0.25, 0.5, 1.0):
                calls = round(part * items)
                title = f"noise {noise:g}, {calls} of {items}"

                def make(case: World = case, calls: int = calls, title: str = title) -> Any:
                    seed = [len(case.truth), round(100 * case.old.noise), calls, SEED]
                    rng = np.random.default_rng([*seed, round(1e3 * changed)])
                    cell = Cell(case)
                    for _ in range(runs):
                        cell.run(calls, rng)
                    return cell.row(title, oracle=changed > 0)

                rows.append(kept_row(f"{changed:g}, {title}, {runs}", make))
    return rows


def unchanged(runs: int) -> None:
    rows = table(runs, (0.05, 0.15, 0.3), 0.0)
    says = [float(row["ours"].rsplit("/", 1)[1]) for row in rows]
    present = [float(row["present"].rsplit("/", 1)[1]) for row in rows]
    record(
        "shift-noise-unchanged",
        "An unchanged API with random answers",
        rows,
        notes=[
            f"{runs} runs per row, b = {BLIND_SHARE}; a random answer is uniform over 4 labels.",
            f"called changed: ours {np.mean(says):.3f} on average, {max(says):.3f} at most; as a "
            f"deterministic API {np.mean(present):.3f} and {max(present):.3f}",
            f"chance test: {max(row['chance test says'] for row in rows):.3f} at most; some cell "
            f"proved: {max(row['some cell proved'] for row in rows):.3f} at most, with each cell's "
            f"own λ only {max(row['the same, own λ only'] for row in rows):.3f}",
            "Where N = M ours makes up to a tenth more calls, the repeats.",
        ],
    )


def changed(runs: int) -> None:
    rows = table(runs, (0.0, 0.05, 0.15, 0.3), 0.06)
    record(
        "shift-noise-changed",
        "A changed API (3 points less accurate) with random answers",
        rows,
        notes=[
            f"{runs} runs per row. 6 % of the base answers moved, three quarters from right to "
            "wrong; noise hides its share of the 3 points.",
            "The oracle draws uniformly and knows the variance of its estimate.",
        ],
    )


def verdicts(runs: int) -> None:
    """Let the product speak, end to end: blind phase, repeats, assessment, cells."""
    rows = []
    for moved, noise in product((0.0, 0.06), (0.05, 0.15, 0.3)):
        # Power needs fewer runs than a level of .05.
        some = runs if not moved else max(1, runs // 4)
        for items in (500, 2000):
            seed = [items, round(100 * noise), SEED]
            case = world(items, noise, moved, np.random.default_rng(seed))
            for part in (0.25, 0.5, 1.1):
                calls = round(part * items)
                title = f"{noise:g}, {moved:g}, {calls} of {items}"

                def make(
                    case: World = case, calls: int = calls, title: str = title, some: int = some
                ) -> Any:
                    return _verdict_row(case, calls, title, some, SEED)

                rows.append(kept_row(f"verdicts, {title}, {some}", make))
    planned, rows = len(rows), [row for row in rows if row]
    still = [row for row in rows if ", 0, " in row["noise, changed, N of M"]]
    # The highest of 18 rows is high by luck, too: it is measured again on other draws.
    highest = max(still, key=lambda row: (row["some cell proved"], row["better or worse"]))
    title, many = highest["noise, changed, N of M"], 3 * runs
    again = kept_row(f"verdicts again, {title}, {many}", lambda: _again(title, many))
    record(
        "shift-noise-verdicts",
        "What shift says of an API with random answers",
        rows,
        notes=[
            "Through the product's own sampler, repeats and assessment, on draws that no rule was"
            " fixed on; the standard error of .05 is"
            f" {np.sqrt(0.05 * 0.95 / runs):.3f} in the unchanged rows.",
            "Unchanged: better or worse in "
            f"{np.mean([row['better or worse'] for row in still]):.3f} of runs on average, "
            f"{max(row['better or worse'] for row in still):.3f} at most; some cell proved in "
            f"{max(row['some cell proved'] for row in still):.3f} at most.",
            *(
                [
                    f"That highest row ({title}), measured again on {many} draws of another"
                    f" population with the same intervals: better or worse {again['better or worse']:.3f}, some cell proved"
                    f" {again['some cell proved']:.3f}."
                ]
                if again
                else []
            ),
            *(
                []
                if len(rows) == planned
                else [f"{len(rows)} of {planned} rows are measured so far."]
            ),
            "In changed rows 6 % of the base answers moved: accuracy falls by 3 points less what noise"
            " hides.",
            "The oracle draws uniformly, as many calls, and knows the variance of its estimate.",
        ],
    )


def _verdict_row(case: World, calls: int, title: str, runs: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng([len(case.truth), round(100 * case.old.noise), calls, seed])
    said = [one_verdict(case, calls, rng) for _ in range(runs)]
    accuracy, beyond, proved, known = (np.mean(one) for one in zip(*said, strict=True))
    return {
        "noise, changed, N of M": title,
        "runs": runs,
        "better or worse": float(accuracy),
        "an oracle that knows the noise": float(known),
        "flips beyond noise proved": float(beyond),
        "some cell proved": float(proved),
    }


def _again(title: str, runs: int) -> dict[str, Any]:
    """Measure one unchanged row on another population and other draws, without the client."""
    noise, _, budget = title.split(", ")
    calls, items = (int(word) for word in budget.split(" of "))
    seed = [items, round(100 * float(noise)), SEED + 1]
    cell = Cell(world(items, float(noise), 0.0, np.random.default_rng(seed)))
    rng = np.random.default_rng([*seed, calls])
    for _ in range(runs):
        cell.run(calls, rng)
    return {
        "better or worse": cell.scores["ours"].says,
        "some cell proved": float(np.mean(cell.proved)),
    }


def one_verdict(case: World, calls: int, rng: np.random.Generator) -> tuple[bool, bool, bool, bool]:
    """Run the product once on a simulated API; say what its intervals exclude."""
    from tallystick.verbs.shift import Items
    from tallystick.verbs.shift import run as ask_api
    from tallystick.verbs.shift.question import Run as Plan_

    old = case.old.answers(rng)
    first, second = case.new.answers(rng), case.new.answers(rng)
    names = [LABELS[code] for code in case.truth]
    table = Items.of(names, old=[LABELS[code] for code in old], confidence=case.confidence)
    rows = [{"n": n} for n in range(len(old))]
    result = ask_api(
        table,
        Simulated(first, second),
        rows,
        Plan_(budget=calls, seed=int(rng.integers(2**31))),
    )
    low, high = known(known(result.accuracy_change).interval)
    beyond = known(known(result.noise).beyond.interval)
    d = uniform(case, old, calls, rng)
    half = Z * np.sqrt(case.variance(len(d)))
    return (
        low > 1e-9 or high < -1e-9,
        beyond.low > 1e-9,
        any(cell.survives for cell in result.top_cells),
        abs(d.mean()) > half,
    )


class Simulated(Client):
    """Answer from two prepared draws: the first call of an item gets the first."""

    def __init__(self, *draws: np.ndarray) -> None:
        self.draws, self.asked = draws, set[int]()

    @property
    def description(self) -> dict[str, Any]:
        """Name the kind."""
        return {"kind": "simulated"}

    async def answer(self, row: Any) -> str:
        """Answer from the first draw, then from the second."""
        n = row["n"]
        draw = self.draws[int(n in self.asked)]
        self.asked.add(n)
        return LABELS[draw[n]]


def gate(runs: int) -> None:
    """How often a watched gate "flip_rate <= x" passes where a little more than x changed."""
    from tallystick.verbs.shift import Items
    from tallystick.verbs.shift import run as ask_api
    from tallystick.verbs.shift.question import Run as Plan_

    def passes(case: World, calls: int, limit: float, rng: np.random.Generator) -> bool:
        old, certain = case.old.answers(rng), case.new.noise == 0
        table = Items.of([LABELS[c] for c in case.truth], old=[LABELS[c] for c in old])
        how = Plan_(
            budget=calls, seed=int(rng.integers(2**31)), flip_limit=limit, deterministic=certain
        )
        draws = Simulated(case.new.answers(rng), case.new.answers(rng))
        result = ask_api(table, draws, [{"n": n} for n in range(len(old))], how)
        return result.gate is not None and bool(result.gate.passed)

    rows = []
    for noise, limit, moved in (
        (0.0, 0.02, 0.021),
        (0.0, 0.05, 0.051),
        (0.0, 0.1, 0.101),
        (0.02, 0.05, 0.051),
        (0.05, 0.1, 0.101),
        (0.0, 0.05, 0.02),
    ):
        case = world(1000, noise, moved, np.random.default_rng([round(1e3 * moved), 1]))
        for calls in (500, 1000):
            title = f"noise {noise:g}, {moved:g} changed, flip_rate <= {limit:g}, {calls} of 1000"

            def make(
                case: World = case, calls: int = calls, limit: float = limit, title: str = title
            ) -> Any:
                rng = np.random.default_rng([calls, round(1e3 * limit)])
                said = [passes(case, calls, limit, rng) for _ in range(runs)]
                return {"case": title, "passes": float(np.mean(said))}

            rows.append(kept_row(f"gate, {title}, {runs}", make))
    wrong = max(row["passes"] for row in rows[:-2])
    record(
        "shift-gate",
        "The watched gate on flips: how often it passes where it must not",
        rows,
        notes=[
            f"{runs} runs per row, through the product's sampler. In all rows but the last two more"
            f" changed than the gate allows: it passed in {wrong:.3f} at most (α = .05).",
            "The last two rows show how often it passes where it should.",
        ],
    )


def flips(runs: int) -> None:
    """Coverage of the flip rate under adaptive allocation, on real deterministic changes."""
    from benchmarks.truth.shift_cases import DATA, codes, drifts, swaps

    if not DATA.is_dir():
        print("real data is absent: set TALLYSTICK_DATA to its folder")
        return
    rows = [
        kept_row(f"flips, {case.name}, {runs}", partial(_flip_row, case, codes, runs))
        for case in [*drifts(), *swaps()]
    ]
    ours = [
        (row[key], row["case"], int(key.rpartition(" ")[2]))
        for row in rows
        for key in row
        if key.startswith("ours, N =")
    ]
    before = [row[key] for row in rows for key in row if key.startswith("b .6, half δ, N =")]
    least, name, calls = min(ours)
    # The lowest of a hundred cells is low by luck, too: it is measured again on other draws.
    worst = next(case for case in [*drifts(), *swaps()] if case.name == name)
    again = kept_row(
        f"flips again, {name}, {calls}, {2 * runs}",
        lambda: {"covers": _flip_cell(worst, codes, calls, OURS, 2 * runs, seed=100)[0]},
    )
    record(
        "shift-flip-coverage",
        "Coverage of the flip rate on real changes, deterministic answers",
        rows,
        notes=[
            f"{runs} runs per cell, standard error {np.sqrt(0.05 * 0.95 / runs):.3f}. Lowest of"
            f" {len(ours)}: ours {least:.3f}, b = .6 with half δ {min(before):.3f}; mean"
            f" {np.mean([one for one, *_ in ours]):.3f} and {np.mean(before):.3f}.",
            f"That lowest cell of ours ({name}, N = {calls}), measured again on {2 * runs} other"
            f" draws: {again['covers']:.3f}.",
        ],
    )


OURS = (BLIND_SHARE, FLIP_HULL)
"""The blind share, and the part of δ by which the interval is stretched."""


def _flip_row(case: Any, codes: Any, runs: int) -> dict[str, Any]:
    """Measure one change at both budgets, by ours and by the first version's rule."""
    row: dict[str, Any] = {"case": case.name}
    old, new = codes(case, case.old, case.new)
    row["flips"] = float((old != new).mean())
    for calls in (200, 1000):
        if calls >= len(old):
            continue
        for name, rule in (("b .6, half δ", (0.6, 0.5)), ("ours", OURS)):
            covers, half = _flip_cell(case, codes, calls, rule, runs)
            row[f"{name}, N = {calls}"] = covers
            row[f"{name}, half-width, N = {calls}"] = half
    return row


def _flip_cell(
    case: Any, codes: Any, calls: int, rule: tuple[float, float], runs: int, *, seed: int = 7
) -> tuple[float, float]:
    """Return coverage and mean half-width of one rule (blind share, part of δ) at one budget."""
    blind, part = rule
    old, new = codes(case, case.old, case.new)
    strata = history_cells(case.true, case.old, calls=calls, confidence=case.confidence)
    plan = Plan(
        strata=strata,
        policy=Flips(blind=blind),
        budget=Budget(calls=calls),
        n_outcomes=int(max(old.max(), new.max())) + 1,
        baseline=old,
        in_flight=16,
    )
    result = replay(plan, new, runs=runs, rng=seed)
    batches = zip(result.batches(), result.batches(blind=True), strict=True)
    low, high = np.concatenate([_flip_ends(*pair, part, len(old)) for pair in batches], axis=1)
    flips = float((old != new).mean())
    inside = (low <= flips) & (flips <= high)
    return float(inside.mean()), float((high - low).mean() / 2)


def _flip_ends(seen: Observed, blind: Observed, part: float, items: int) -> np.ndarray:
    sample = sample_of(seen)
    assert seen.same is not None
    assert blind.same is not None
    events = (seen.answered - seen.same.sum(axis=-1)).astype(float)
    early = (blind.answered - blind.same.sum(axis=-1)).astype(float)
    gap = blind_gap(events, sample, early, blind.answered.astype(float))
    found = (
        flip_rate_bounds(events, sample, share=0.0, items=items, alpha=0.05)
        if part == FLIP_HULL
        else sum_bounds(events, sample, alpha=0.05)
    )
    moved = stretched(found, gap, part=part)
    return np.stack([moved.low, moved.high])


def main() -> None:
    runs = int(sys.argv[sys.argv.index("--runs") + 1]) if "--runs" in sys.argv else 200
    sections = {
        "unchanged": unchanged,
        "changed": changed,
        "verdicts": verdicts,
        "gate": gate,
        "flips": flips,
    }
    for name in [name for name in sections if name in sys.argv[1:]] or list(sections):
        sections[name](runs)
        print()


if __name__ == "__main__":
    main()
