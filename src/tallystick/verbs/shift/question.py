"""What can be asked about an API: how to reach it, how much to spend, what to compare it with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.clients import KINDS, AnswerReading, Client, ClientQuestion, Wire
from tallystick.errors import BudgetError, FileError, InputError
from tallystick.results import Result
from tallystick.sampling import Plan
from tallystick.table import Cases, Data, Demo, Found, Tally, gather, option
from tallystick.table.capability import MOST_ROWS
from tallystick.table.frames import draw_answers, draw_truth
from tallystick.verbs.shift.design import AskDesign, Items, Strategy, design, repeats_planned
from tallystick.verbs.shift.noisy import read_gates
from tallystick.verbs.shift.result import ShiftResult

_API = f"Whom to ask: {', '.join(kind.example for kind in KINDS)}."
_WEIGHTS = "Which errors matter: accuracy, 'TRUE>ANSWERED', or a matrix file."
_GATE = "'flip_rate <= .01', 'accuracy_change >= -.02', …: exit 10 fails, 11 undecided."


@dataclass(frozen=True, kw_only=True)
class ShiftQuestion(ClientQuestion):
    """What is asked about an API.

    In Python *api* may be a `tallystick.clients.Client`, *old_matrix* and *weights* an array,
    *request* a JSON value and *header* a mapping; the command line gives all of them as text.
    """

    api: tuple[str, ...] | Client = option((), f"{_API} Repeat for several APIs.")
    grader: str | Client | None = option(
        None,
        "For answers that need grading: the API that grades {answer}, or a column of new grades.",
    )
    grader_prompt: str | None = option(
        None,
        "Prompt for the grader, or a file that holds it; {answer} is replaced by the answer to"
        " grade.",
    )
    old_draws: tuple[str, ...] = option(
        (),
        "More columns of old answers, if the old API was asked several times; repeat, or use"
        " commas.",
    )
    budget: int | None = option(None, "Most questions to ask. This is a hard limit.", low=1)
    old_matrix: Path | ArrayLike | None = option(
        None, "CSV file with the old confusion matrix, one line per true label.", metavar="FILE"
    )
    since: Path | None = option(
        None, "Journal of the last run, whose answers are taken as the old ones.", metavar="FILE"
    )
    other: tuple[str, ...] = option(
        (), "Old answer that means none of the labels; repeat for more."
    )
    strategy: str = option(
        "ours", "How to choose which items to ask about.", choices=tuple(get_args(Strategy))
    )
    bins: int = option(3, "With masa or proportional: number of difficulty bins.", low=1)
    exploration: float = option(1.0, "With masa: how much to explore (a in the paper).")
    weights: str | ArrayLike | None = option(None, _WEIGHTS)
    target_error: float | None = option(
        None, "Stop when the error of the whole confusion matrix (Frobenius norm) is below this."
    )
    gates: tuple[str, ...] = option((), _GATE, flag="--gate", metavar="EXPR")
    repeats: int | None = option(
        None, "Most changed answers to ask again; by default a tenth of the budget.", low=0
    )
    deterministic: bool = option(False, "Take it that the same call always gives the same answer.")
    simultaneous: bool = option(False, "Widen the intervals so that all cells hold at once.")
    history: Path | None = option(
        None,
        "Append this result to a file, and compare it with those before.",
        metavar="FILE",
        writes=True,
    )
    dry_run: bool = option(False, "Forecast calls, money and time, without asking anything.")

    def __post_init__(self) -> None:
        super().__post_init__()
        # One name is a group of one; the command line also separates names by commas.
        if self.api is None:
            object.__setattr__(self, "api", ())
        elif isinstance(self.api, str):
            object.__setattr__(self, "api", (self.api,))
        for name in ("other", "gates", "old_draws"):
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        pieces = (piece.strip() for text in self.other for piece in str(text).split(","))
        object.__setattr__(self, "other", tuple(pieces))
        more = (piece.strip() for text in self.old_draws for piece in str(text).split(","))
        object.__setattr__(self, "old_draws", tuple(more))
        for name in ("since", "history"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, Path(getattr(self, name)))
        read_gates(self.gates)

    @property
    def whole_seed(self) -> int:
        """The seed as a number: a journal is continued by it. A generator gives its next one."""
        seed = seed_of(self.seed)
        return int(as_rng(self.seed).integers(2**31)) if seed is None else seed

    def design(self, strategy: Strategy) -> AskDesign:
        """Return how to sample; a weight that is not spelled out in words names a matrix file."""
        weights: Any = self.weights
        in_words = isinstance(weights, str) and (weights == "accuracy" or ">" in weights)
        if weights is not None and not in_words:
            weights = tuple(tuple(map(float, row)) for row in read_matrix(weights))
        return AskDesign(
            strategy=strategy, bins=self.bins, exploration=self.exploration, weights=weights
        )

    def run(self, budget: int, strategy: Strategy, *, limit: float | None, coerce: bool) -> Run:
        """Return everything that decides a run besides data and API."""
        return Run(
            budget=budget,
            how=self.design(strategy),
            wire=self.wire(),
            seed=self.whole_seed,
            alpha=self.alpha,
            simultaneous=self.simultaneous,
            repeats=self.repeats,
            deterministic=self.deterministic,
            flip_limit=limit,
            target_error=self.target_error,
            journal=self.journal,
            durable=self.durable,
            reading=AnswerReading(self.answer or "exact", coerce),
        )


# A table for the demonstration: a sentiment API in two versions.


_BUDGET = 600


def demo(rng: Rng) -> Demo:
    """Return answers of two versions on 8,000 reviews; 600 of the new ones may be looked at.

    The new version calls more neutral reviews negative, where the old one was not sure.
    """
    draw = as_rng(rng)
    n = 8000
    truth = draw_truth(n, (0.5, 0.3, 0.2), draw)
    names = np.array(["positive", "negative", "neutral"])
    sure = draw.beta(5, 2, n)
    old = draw_answers(truth, 0.88, 3, draw, hard=-(sure - 0.71) / 0.16, shared=0.5)
    moved = (draw.random(n) < 0.25) & (truth == 2) & (sure < 0.7)
    new = np.where(moved, 1, old)
    return Demo(
        story=(
            "A sentiment API has a new version. You have 8,000 labelled reviews and pay for"
            f" {_BUDGET} calls. What changed?"
        ),
        table={
            "item": np.arange(n),
            "truth": names[truth],
            "pred_old": names[old],
            "pred_new": names[new],
            "conf_old": np.round(sure, 4),
        },
        options={
            "truth": "truth",
            "old": "pred_old",
            "confidence": "conf_old",
            "api": "replay:pred_new",
            "budget": _BUDGET,
            "deterministic": True,
        },
    )


# The items whose answer changed.


def cases_of(result: Result, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the items that were asked and got another answer than before.

    None where no old answer is known by item, or where the rows are not at hand.
    """
    if not isinstance(result, ShiftResult) or result.evidence is None:
        return None
    if isinstance(data.held, Tally) or data.n_rows > MOST_ROWS or "old" not in result.asked:
        return None
    items, _, answers = result.evidence
    if len(items) != data.n_rows:
        return None  # some rows were left out, so places of items are not places of rows

    table = result.asked
    truths = table.get("true", [None] * len(table["new"]))
    found = []
    for place, (row, changed) in enumerate(
        zip(answers.asked.tolist(), table["changed"], strict=True)
    ):
        if not changed:
            continue
        true, old, new = (cells[place] for cells in (truths, table["old"], table["new"]))
        found.append(
            Found(
                row=int(row),
                kind=_kind(true, old, new),
                summary=f"{old} → {new}" + (f" · true {true}" if true is not None else ""),
                votes=tuple(
                    (name, str(value))
                    for name, value in (("true", true), ("old", old), ("new", new))
                    if value is not None
                ),
            )
        )
    order = ("became wrong", "became right", "wrong before and after", "changed")
    found.sort(key=lambda one: order.index(one.kind))
    counts = [(kind, sum(one.kind == kind for one in found)) for kind in order]
    told = ", ".join(f"{n:,} {kind}" for kind, n in counts if n and kind != "changed")
    line = f"{len(found):,} of {len(table['new']):,} answers changed{': ' + told if told else ''}."
    return gather(data, found, title="Items", line=line, texts=texts)


def _kind(true: object, old: object, new: object) -> str:
    if true is None:
        return "changed"
    if old == true:
        return "became wrong"
    return "became right" if new == true else "wrong before and after"


# A matrix of plain numbers in a file: an old confusion matrix, or weights of errors.


def read_matrix(source: Any) -> NDArray[np.float64]:
    """Return a matrix from CSV without a header (one line per true label), or from an array.

    >>> read_matrix([[3, 1], [0, 4]]).tolist()
    [[3.0, 1.0], [0.0, 4.0]]
    """
    if not isinstance(source, str | Path):
        return np.asarray(source, dtype=np.float64)
    path = Path(source)
    try:
        lines = path.read_text(encoding="utf-8").strip().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"the matrix {path} cannot be read: {error}") from error

    try:
        rows = [[float(cell) for cell in line.replace("\t", ",").split(",")] for line in lines]
    except ValueError as error:
        raise InputError(
            f"the matrix {path} must hold numbers only, one line per true label: {error}"
        ) from error
    if not rows or len({len(row) for row in rows}) != 1:
        raise InputError(
            f"the matrix {path} must have lines of equal length, got {[len(row) for row in rows]}"
        )
    return np.array(rows)


# Everything that decides a run besides data and API, and where a run stands.


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run stands."""

    calls: int
    planned: int
    cost: float
    error: float | None


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that decides a run besides data and API.

    Parameters
    ----------
    budget
        Questions at most, those asked twice included. A request that is sent again after a failure
        is not a new question.
    how
        Strategy and strata. Its window is set by the run.
    wire
        Concurrency, timeouts, retries, price.
    seed
        Of everything that is drawn.
    alpha, simultaneous
        As in :func:`assess`.
    repeats
        How many flips are asked again at most, to tell change from chance; they are part of the
        budget. None follows the rule of `noise_rules`, 0 asks none again.
    deterministic
        Declare that the same call always gives the same answer: nothing is asked again, and no
        interval allows for noise.
    flip_limit
        Ask in random order and stop as soon as it is proved that more, or fewer, than this share of
        answers changed.
    target_error
        Stop when the Frobenius error of the matrix is below this (with probability 1 - alpha).
    journal, durable
        The file that keeps every answer, and whether each is forced to the disk.
    reading
        How answers are read.
    """

    budget: int
    how: AskDesign = field(default_factory=AskDesign)
    wire: Wire = field(default_factory=Wire)
    seed: int = 0
    alpha: float = 0.05
    simultaneous: bool = False
    repeats: int | None = None
    deterministic: bool = False
    flip_limit: float | None = None
    target_error: float | None = None
    journal: Path | None = None
    durable: bool = False
    reading: AnswerReading = field(default_factory=AnswerReading)

    def __post_init__(self) -> None:
        repeats = self.repeats or 0
        if repeats < 0 or self.budget - repeats < 1:
            raise BudgetError(
                f"a budget of {self.budget} calls does not allow {self.repeats} repeats"
            )
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must be in (0, 1), got {self.alpha!r}")
        if self.target_error is not None and not 0 < self.target_error < inf:
            raise InputError(f"target_error must be positive, got {self.target_error!r}")

    def affordable(self) -> int:
        """Return how many questions budget and money allow at most, repeats included."""
        wire = self.wire
        if wire.max_cost is None or not wire.price:
            return self.budget
        calls = min(self.budget, int(wire.max_cost / wire.price + 1e-9))
        if calls < 1:
            raise BudgetError(f"max_cost = {wire.max_cost:g} does not pay for one call")
        return calls

    def most_repeats(self, items: Items, *, fresh: bool = True) -> int:
        """Return how many flips may be asked again; *fresh* says whether that is possible."""
        if self.deterministic or not fresh or items.old is None or self.how.strategy != "ours":
            return 0
        budget = self.affordable()
        return repeats_planned(budget) if self.repeats is None else min(self.repeats, budget - 1)

    def plan(self, items: Items, *, fresh: bool = True) -> Plan:
        """Return the plan of this run."""
        budget = self.affordable()
        calls = min(budget, len(items))
        repeats = self.most_repeats(items, fresh=fresh)
        # What lies beyond the items pays for repeats first; the blind phase leaves the rest.
        reserve = min(max(0, repeats - (budget - calls)), 3 * calls // 10)
        if self.flip_limit is not None:
            calls -= reserve
        # A slow answer must not stall the others, so the window is wider than what may be in
        # flight; a gate, which throws away what it asked too much, gets none wider than that.
        wide = self.wire.concurrency * (1 if self.flip_limit is not None else 4)
        first = calls if self.flip_limit is not None else 0
        window = max(1, min(wide, calls // 4))
        return design(
            items,
            calls=calls,
            how=replace(self.how, window=window, random_first=first, reserve=reserve),
        )
