"""Everything that is estimated of systems and pairs, on [0, 1], and the rows made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.results import Claims, Interval, Unknown
from tallystick.table.panel import Floats
from tallystick.table.panel_grades import GradePanel
from tallystick.verbs.score.pairs import (
    Known,
    NextGrades,
    SystemBoard,
    SystemPair,
    board_of,
    compare_pairs,
    mixed_pairs,
    ranked,
    settling,
    spreads,
    win_pairs,
)
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.result import (
    NOT_SETTLED,
    SystemPairRow,
    SystemRow,
    Units,
)
from tallystick.verbs.score.systems import (
    Fitted,
    MixFit,
    System,
    estimate_systems,
    fitted,
    joint_intervals,
)
from tallystick.verbs.score.verdict import ASSUMED_DRAW

if TYPE_CHECKING:
    from tallystick.verbs.score.sessions import SessionDraws

NO_LABELS = "there are no human grades"
NO_GRADES = "there are no grades by a judge"
OF_PAIRS = "preferences are of pairs"


@dataclass(frozen=True, kw_only=True, eq=False)
class Scored:
    """What is known of every system and pair.

    Parameters
    ----------
    outputs, question
        The grades, and what is asked.
    systems, pairs
        The estimates. For preferences a "system" is the win rate of a pair.
    found
        The fit behind them; None without labels, for a target mix and for a labelling session.
    draws
        How the labels were drawn, where they come from a labelling session.
    """

    outputs: GradePanel
    question: ScoreQuestion
    systems: list[System]
    pairs: list[SystemPair]
    found: Fitted | None = None
    draws: SessionDraws | None = None

    @cached_property
    def labelled(self) -> bool:
        """Whether any system has a score."""
        return any(one.score is not None for one in self.systems)

    @cached_property
    def units(self) -> Units:
        """From [0, 1] to what is shown."""
        return Units(None if self.outputs.pass_fail else self.outputs.scale)

    @cached_property
    def judges(self) -> Floats:
        """What the judges together make of each system."""
        return self.outputs.mean(self.outputs.mean_grade)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Who is compared: the systems, or those that preferences are about."""
        pairs = self.outputs.preferences
        return tuple(dict.fromkeys(name for pair in pairs for name in pair)) or self.outputs.systems

    @cached_property
    def board(self) -> SystemBoard | None:
        """The outputs of all systems side by side, where items are known."""
        if self.outputs.preferences:
            return None
        return board_of(self.outputs, tuple(range(len(self.systems))))

    @property
    def graded_items(self) -> int:
        """How many items have a human grade; 0 where items are not known."""
        known, item = self.outputs.known, self.outputs.item
        if item is None or self.outputs.preferences:
            return self.outputs.n_labels if self.outputs.own_items else 0
        _, first = np.unique(item[known], return_index=True)
        return round(float(self.outputs.counts[known][first].sum()))

    @property
    def label_goal(self) -> str | None:
        """What labels should aim at: the order where it can be drawn for, else the means."""
        outputs = self.outputs
        if self.draws is not None or outputs.turned or outputs.preferences:
            return None
        if not self.labelled or not outputs.pass_fail or not outputs.has_items:
            return "mean"
        return "difference" if len(outputs.systems) == 2 else "best"

    @property
    def joint(self) -> bool:
        """Whether the order rests on the scores alone, because pairs are not known."""
        return not self.pairs and self.found is not None and len(self.found.systems) > 1

    @cached_property
    def known(self) -> Known | None:
        """Ranks, tiers and claims; None where nothing is ranked."""
        if not self.labelled:
            return None
        k, alpha = len(self.names), self.question.alpha
        settled = [(one.first, one.second, one.sign(alpha)) for one in self.pairs]
        if self.outputs.preferences:
            if len(self.pairs) < k * (k - 1) // 2:
                return None
            # A stand-in for a score orders the systems by wins minus losses.
            wins = np.zeros(k)
            for pair in self.pairs:
                wins[pair.first] += pair.difference
                wins[pair.second] -= pair.difference
            return ranked(self.names, wins.tolist(), settled)
        if self.joint and self.found is not None:
            ends = joint_intervals(self.outputs, self.question, self.found)
            place = {name: s for s, name in enumerate(self.names)}
            better = Claims.from_intervals(ends).better
            settled = [(place[a], place[b], 1) for a, b in sorted(better)]
        order = None if self.draws is None else self.draws.order
        return ranked(self.names, [one.score for one in self.systems], settled, order)

    def system_rows(self) -> tuple[SystemRow, ...]:
        """Return one row per system, by rank, or by the judges where there are no labels."""
        outputs, known, k = self.outputs, self.known, len(self.systems)
        order = list(range(k))
        if not outputs.preferences and known is None:
            order = np.argsort(-np.nan_to_num(self.judges, nan=-1.0), kind="stable").tolist()
        elif not outputs.preferences and known is not None:
            order = [*known.order, *(s for s in range(k) if s not in known.rank)]
        return tuple(self._system_row(s) for s in order)

    def _system_row(self, s: int) -> SystemRow:
        outputs, units, one = self.outputs, self.units, self.systems[s]
        judged: float | Unknown = Unknown(NO_GRADES)
        if np.isfinite(self.judges[s]):
            judged = units.value(float(self.judges[s]))
        held: dict[str, Any] = dict.fromkeys(
            ("score", "interval", "bias", "bias_interval", "labels_worth"), Unknown(NO_LABELS)
        )
        if one.score is not None:
            interval, score = self._promised(units.interval(one.interval)), units.value(one.score)
            held = {"score": score, "interval": interval, "labels_worth": one.worth}
            # The bias is known as well as the score: the same interval, turned round.
            held |= {"bias": judged, "bias_interval": judged}
            if isinstance(judged, float):
                ends = replace(interval, low=judged - interval.high, high=judged - interval.low)
                held |= {"bias": judged - score, "bias_interval": ends}
        rank: tuple[int, int] | Unknown = Unknown(NO_LABELS)
        if outputs.preferences:
            rank = Unknown(OF_PAIRS)
        elif self.known is not None:
            rank = self.known.rank.get(s, (1, len(self.systems)))
        return SystemRow(
            name=one.name,
            judge_only=judged,
            n_outputs=one.n,
            n_labels=one.n_labels,
            rank_interval=rank,
            needed=one.needed,
            **held,
        )

    def _promised(self, interval: Interval) -> Interval:
        """Return the interval with what it assumes, where nobody said how outputs were chosen."""
        if self.question.label_draw != "unknown":
            return interval
        return replace(interval, guarantee="under", assumption=ASSUMED_DRAW)

    def pair_rows(self) -> tuple[SystemPairRow, ...]:
        """Return one row per pair, the one that is ahead first; settled pairs come first."""
        rows = []
        for pair in self.pairs:
            decided = pair.sign(self.question.alpha)
            ahead = decided > 0 if decided else pair.difference >= 0
            a, b = (pair.first, pair.second) if ahead else (pair.second, pair.first)
            sign = 1.0 if ahead else -1.0
            interval = self.units.sizes(pair.interval if ahead else -pair.interval)
            lead = sign * self._lead(pair)
            rows.append(
                SystemPairRow(
                    a=self.names[a],
                    b=self.names[b],
                    difference=self.units.size(sign * pair.difference),
                    interval=self._promised(interval),
                    p_value=pair.p_value,
                    adjusted_p=pair.adjusted_p,
                    judge_only_difference=self.units.size(lead)
                    if np.isfinite(lead)
                    else Unknown(NO_GRADES),
                    verdict=f"{self.names[a]} is better" if decided else NOT_SETTLED,
                    needed=pair.needed if pair.rate is None else Unknown(OF_PAIRS),
                    common_labels=pair.common,
                )
            )
        rows.sort(key=lambda row: (not row.settled, row.adjusted_p, -row.difference))
        return tuple(rows)

    def _lead(self, pair: SystemPair) -> float:
        """Return how far the judges alone put the first system ahead."""
        if pair.rate is not None:
            return 2 * float(self.judges[pair.rate]) - 1
        return float(self.judges[pair.first] - self.judges[pair.second])

    def next_grades(self, rows: Sequence[SystemPairRow]) -> NextGrades | None:
        """Return what would settle the pair that keeps the first place open; of preferences the
        pair that is nearest to being settled.
        """
        if self.found is None or not self.pairs:
            return None
        open_ = [row for row in rows if not row.settled]
        if not self.outputs.preferences:
            leader = None if self.known is None else self.known.contenders[0]
            open_ = [row for row in open_ if leader in (row.a, row.b)]
            open_.sort(key=lambda row: row.difference)
        by_names = {frozenset((self.names[p.first], self.names[p.second])): p for p in self.pairs}
        plans = (
            self._settling(by_names[frozenset((row.a, row.b))], (row.a, row.b), self.found)
            for row in open_
        )
        return next((plan for plan in plans if plan is not None), None)

    def _settling(
        self, pair: SystemPair, names: tuple[str, str], found: Fitted
    ) -> NextGrades | None:
        """Return what would settle one pair."""
        few, level, wide = found.few, self.question.alpha / len(self.pairs), spreads(self.question)
        if pair.rate is not None:
            place, common = found.place(pair.rate), pair.common
            sizes = [few.forecast_against(0.5, spread=one, alpha=level)[place] for one in wide]
            # An item of two systems has one grade.
            most = round(float(few.outputs[place]))
            return settling(sizes, pair, names, most, lambda items: items - common)
        board = board_of(self.outputs, (pair.first, pair.second))
        if board is None or isinstance(pair.needed, Unknown):
            return None
        first, second = found.place(pair.first), found.place(pair.second)
        sizes = [few.forecast_pairs(first, second, spread=one, alpha=level)[0] for one in wide]
        return settling(sizes, pair, names, pair.needed.items, board.ungraded)


def estimated(
    outputs: GradePanel, question: ScoreQuestion, draws: SessionDraws | None = None
) -> Scored:
    """Estimate systems and pairs: from a session's draws, for a target mix, or as they are.

    Examples
    --------
    >>> from tallystick.table import read
    >>> from tallystick.table.panel_grades import read_outputs
    >>> table = {"gpt": [1, 1, 0, 1] * 10, "human": [1, 1, 0, 0] * 3 + [None] * 28}
    >>> outputs = read_outputs(read(table, judges=("gpt",), truth="human"), scale=None)
    >>> found = estimated(outputs, ScoreQuestion())
    >>> round(found.systems[0].score, 3), float(found.judges[0]), found.pairs
    (0.5, 0.75, [])
    """
    if draws is not None:
        from tallystick.verbs.score.sessions import session_pairs

        systems = draws.systems(question.alpha)
        pairs = session_pairs(draws, systems, question)
        return Scored(outputs=outputs, question=question, systems=systems, pairs=pairs, draws=draws)
    if question.target_mix is not None:
        mix = MixFit.of(outputs, question)
        systems = estimate_systems(outputs, question, None)
        systems = systems if mix is None else mix.systems(systems, question.alpha)
        pairs = mixed_pairs(mix, systems, question)
        return Scored(outputs=outputs, question=question, systems=systems, pairs=pairs)
    found = fitted(outputs, question)
    systems = estimate_systems(outputs, question, found)
    scored = Scored(outputs=outputs, question=question, systems=systems, pairs=[], found=found)
    if outputs.preferences:
        pairs = win_pairs(outputs, scored.names, systems, found, question)
    else:
        pairs = compare_pairs(outputs, systems, question, found)
    return replace(scored, pairs=pairs)
