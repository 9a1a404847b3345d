"""What can be asked about an API: how to reach it, how much to spend, what to compare it with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from numpy.typing import ArrayLike

from tallystick._rng import as_rng, seed_of
from tallystick.clients import KINDS, Client, ClientQuestion, Reading
from tallystick.data import option
from tallystick.shift.design import AskDesign, Strategy
from tallystick.shift.gate import read_gates
from tallystick.shift.matrix_file import read_matrix
from tallystick.shift.run import Run

__all__ = ["ShiftQuestion"]

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
    latency: float = option(1.0, "With --dry-run: seconds that a call takes.")

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
            reading=Reading(self.answer or "exact", coerce),
        )
