"""How far judges agree: with one another, with the truth, and with themselves when asked again.

All coefficients are those of `tallystick.stats.agreement`; the number is exact for these items and
the interval is for new items of the same kind. Pairs are counted in tables of K x K votes, so their
cost does not grow with the number of different patterns.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from tallystick.errors import AskError, InputError
from tallystick.results import Figure, Interval, Result, Unit, Unknown
from tallystick.stats.agreement import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    mean_bias,
    raw_agreement,
)
from tallystick.stats.exact_tails import binomial_up_to
from tallystick.stats.intervals import clopper_pearson
from tallystick.stats.latent_checks import CROWD
from tallystick.stats.latent_headline import vote_table
from tallystick.stats.maxt import holm
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.table.panel import Floats, Ints, Panel
from tallystick.table.patterns import pack
from tallystick.table.words import number_of
from tallystick.verbs.judge.result import AgreementPair, AgreementTable, Share, forest
from tallystick.verbs.judge.verdict import NEW_SAMPLE, panel_position_verdict, repeated_verdict

_LEAST_GRADES, _MOST_GRADE = 4, 10
_FEW = 5
_FEW_DIFFER = 20
_NEAR = 0.95
"""Mean distance of two votes that differ, over that of votes by chance, up to which numbers are
grades. In 160 simulated panels each: grades .36 to .95, names .78 to 1.29; from five labels on,
grades below .87 and 9 in 10 names above .93."""

Grades: TypeAlias = tuple[float, ...] | None


def grades_of(panel: Panel) -> Grades:
    """Return the numbers that labels stand for, None unless they are grades in order.

    Four or more numbers from 0 to 10 are grades if votes that differ lie near one another. Numbers
    that stand for names (0 for sport, 1 for trade, ...) are as far apart as chance puts them.

    >>> from tallystick.table import Tally
    >>> table = {"a": ["1", "2", "3", "4", "5"] * 9, "b": ["2", "2", "4", "4", "5"] * 9}
    >>> grades_of(Panel.of(Tally.of(table)))
    (1.0, 2.0, 3.0, 4.0, 5.0)
    >>> grades_of(Panel.of(Tally.of(table | {"b": ["4", "2", "5", "1", "5"] * 9}))) is None
    True
    """
    whole = [number_of(one) for one in panel.classes if not isinstance(one, bool)]
    numbers = [one for one in whole if one is not None and 0 <= one <= _MOST_GRADE]
    if len(numbers) < panel.n_classes or len(numbers) < _LEAST_GRADES:
        return None

    # Items x labels: how many voters, the truth among them, gave each label.
    given = vote_table(np.column_stack((panel.codes, panel.truth)), panel.n_classes)
    differ = (given * panel.counts[:, None]).T @ given
    common = panel.counts @ given
    chance = np.outer(common, common)
    far = np.abs(np.subtract.outer(numbers, numbers))
    apart, expected = (
        float((table * far).sum() / max(float(table[far > 0].sum()), 1e-300))
        for table in (differ, chance)
    )
    few = differ[far > 0].sum() < _FEW_DIFFER
    return tuple(numbers) if few or apart <= _NEAR * expected else None


def panel_agreement(panel: Panel, *, alpha: float) -> AgreementTable | None:
    """Return every agreement statistic of a panel; None where items are weighted.

    Examples
    --------
    >>> from tallystick.table import Tally
    >>> votes = Tally.of({"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "gold": [0, 0, 1, None]})
    >>> found = panel_agreement(Panel.of(votes, truth="gold"), alpha=0.05)
    >>> found.pairs[0].raw.estimate, found.with_truth[0].kappa.estimate
    (0.75, 1.0)
    """
    if panel.weight is not None or (panel.counts != np.floor(panel.counts)).any():
        return None
    names, level, values = panel.names, 1 - alpha, grades_of(panel)
    blind = panel.blind
    between = _between(blind, values, level) if len(names) > 1 else {}

    pairs: list[AgreementPair] = []
    if len(names) <= CROWD:
        for i, j in itertools.combinations(range(len(names)), 2):
            votes = _pair_counts(blind, blind.codes[:, i], blind.codes[:, j])
            pairs.append(_pair((names[i], names[j]), votes, panel, values, level))

    with_truth: list[AgreementPair] = []
    if panel.known.any() and len(names) <= CROWD:
        for j, name in enumerate(names):
            votes = _pair_counts(panel, panel.codes[:, j], panel.truth)
            with_truth.append(_pair((name, "truth"), votes, panel, values, level))
    return AgreementTable(
        between=between,
        pairs=tuple(pairs),
        with_truth=tuple(with_truth),
        ordinal=values is not None,
        note=_note(blind),
    )


def _between(blind: Panel, values: Grades, level: float) -> dict[str, Share]:
    """Return the statistics of all judges together."""
    # The coefficients only need how many judges gave each label, so patterns are merged by that.
    codes, counts = _merged(blind)
    shared: dict[str, Any] = {"n_labels": len(blind.labels), "level": level}
    found = {
        "raw": raw_agreement(codes, counts, **shared),
        "fleiss_kappa": fleiss_kappa(codes, counts, **shared),
        "krippendorff_alpha": krippendorff_alpha(codes, counts, **shared),
        "gwet_ac1": gwet_ac1(codes, counts, **shared),
    }
    if values is not None:
        plain = blind.answered
        own: dict[str, Any] = {"n_labels": len(plain.classes), "level": level}
        ordinal = krippendorff_alpha(*_merged(plain), metric="ordinal", **own)
        found["krippendorff_alpha_ordinal"] = ordinal
    return {name: _share(one) for name, one in found.items()}


def _merged(panel: Panel) -> tuple[Ints, Floats]:
    """Return patterns with their votes sorted, equal ones merged."""
    # Only votes that were cast are sorted: most of a crowd is silent on an item.
    entry, judge = np.nonzero(panel.codes >= 0)
    given = panel.codes[entry, judge]
    order = np.lexsort((given, entry))
    cast = np.bincount(entry, minlength=len(panel.codes))
    place = np.arange(entry.size) - np.repeat(np.cumsum(cast) - cast, cast)
    codes = np.full((len(panel.codes), max(2, int(cast.max(initial=0)))), -1)
    codes[entry, place] = given[order]
    sizes = [len(panel.labels) + 1] * codes.shape[1]
    # One sortable key per pattern: comparing rows column by column takes seconds with 100 labels.
    _, first, member = np.unique(
        pack((codes + 1).astype(np.int32), sizes), return_index=True, return_inverse=True
    )
    return codes[first], np.bincount(member.ravel(), weights=panel.counts).astype(np.float64)


def _pair_counts(panel: Panel, first: Ints, second: Ints) -> tuple[Ints, Floats]:
    """Return the pairs of votes of two columns that occur on common items, with their counts."""
    size = len(panel.labels)
    both = (first >= 0) & (second >= 0)
    cells = np.bincount(
        first[both] * size + second[both], weights=panel.counts[both], minlength=size * size
    )
    seen = np.flatnonzero(cells)
    return np.stack((seen // size, seen % size), axis=1), cells[seen].astype(np.float64)


def _pair(
    names: tuple[str, str], votes: tuple[Ints, Floats], panel: Panel, values: Grades, level: float
) -> AgreementPair:
    """Return the statistics of two columns of votes."""
    (a, b), (codes, counts) = names, votes
    if not len(codes):
        none = Share.unknown(_not_both((a, b)))
        return AgreementPair(a=a, b=b, n_items=0, raw=none, kappa=none, gwet_ac1=none)
    more: dict[str, Share] = {}
    possible = (codes < len(panel.classes)).all(axis=1)
    if values is not None and possible.any():
        own: dict[str, Any] = {"n_labels": len(panel.classes), "level": level}
        graded = codes[possible], counts[possible]
        more = {
            "weighted_kappa": _share(cohen_kappa(*graded, weights="quadratic", **own)),
            "bias": _share(mean_bias(*graded, values=values, **own)),
        }
    every: dict[str, Any] = {"n_labels": len(panel.labels), "level": level}
    return AgreementPair(
        a=a,
        b=b,
        n_items=int(counts.sum()),
        raw=_share(raw_agreement(codes, counts, **every)),
        kappa=_share(cohen_kappa(codes, counts, **every)),
        gwet_ac1=_share(gwet_ac1(codes, counts, **every)),
        **more,
    )


def _share(found: Agreement) -> Share:
    return Share(estimate=found.estimate, interval=found.interval)


def _note(blind: Panel) -> str:
    """Say what limits the numbers; empty where nothing does."""
    votes = np.sort(blind.vote_counts.sum(axis=0))[::-1]
    if len(votes) > 1 and votes[1] < _FEW * len(blind.names):
        return (
            "one label is so rare that kappa is hardly determined: read plain agreement and AC1"
            " beside it"
        )
    return ""


# One judge asked again: the same question twice, or with the answers in the other order.

Recorded: TypeAlias = Literal["answer", "position"]

_PLACES = (
    {"a", "b"},
    {"first", "second"},
    {"1st", "2nd"},
    {"left", "right"},
    {"one", "two"},
)
"""Pairs of labels that name a place, the first place first in alphabetical order."""

_LETTERS = ({"a", "b"}, {"one", "two"})
"""Those that may as well name the answers themselves."""

_ORDERS = frozenset(
    [
        *("ab", "ba", "first", "second", "1st", "2nd", "one", "two", "order", "order1", "order2"),
        *("original", "given", "normal", "forward", "backward", "reverse", "reversed"),
        *("swap", "swapped", "flip", "flipped"),
    ]
)
"""Words for the order in which two answers were shown."""

_NOT_SWAPPED = Unknown("answers were not swapped")


@dataclass(frozen=True, kw_only=True)
class OrderScore:
    """How one judge answers the same items again, or in both orders.

    Parameters
    ----------
    name
        What both columns have in common, or the first one.
    n_items
        Items with a vote each time.
    consistent, interval
        Share with the same answer each time, with its exact interval. A tie in both orders is
        consistent.
    first_share, first_interval
        Among items with a lean, the share that leans to the first place; a half is no bias.
    lean
        Mean lean over all items, from -1 (always the second place) to 1 (always the first).
    p_value
        Of the exact sign test, adjusted over the panel.
    ties
        Share of votes that are ties.
    best_accuracy
        The most that its mean accuracy over the askings can be, whatever the truth.
    """

    name: str
    n_items: int
    consistent: float
    interval: Interval
    best_accuracy: float
    first_share: float | Unknown = _NOT_SWAPPED
    first_interval: Interval | Unknown = _NOT_SWAPPED
    lean: float = 0.0
    p_value: float = 1.0
    ties: float = 0.0


@dataclass(frozen=True, kw_only=True)
class OrderResult(Result):
    """How often judges agree with themselves, and what their changes of mind favour."""

    verb: ClassVar[str] = "judge"
    schema: ClassVar[int] = 3

    judges: tuple[OrderScore, ...]

    @classmethod
    def of(cls, verdict: str, scores: Sequence[OrderScore]) -> OrderResult:
        """Write scores as a result."""
        return cls(
            verdict=verdict,
            n_items=max(one.n_items for one in scores),
            assumptions=(NEW_SAMPLE,),
            judges=tuple(scores),
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per judge."""
        found = []
        for one in self.judges:
            row = {"judge": one.name, "consistent": one.consistent, "interval": one.interval}
            if one.first_share is not _NOT_SWAPPED:
                row |= {"first_share": one.first_share, "first_interval": one.first_interval}
                row |= {"lean": one.lean, "p": one.p_value, "ties": one.ties}
            found.append(row | {"best_accuracy": one.best_accuracy, "items": one.n_items})
        return found

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        shares = ("consistent", "first_share", "ties", "best_accuracy")
        found: dict[str, Unit] = dict.fromkeys(shares, "share")
        return {**found, "lean": "points", "p": "p", "items": "count"}

    def figures(self) -> tuple[Figure, ...]:
        """Return the share of same answers, and that of leans to the first place, by judge."""
        again = [(one.name, "", one.consistent, one.interval) for one in self.judges]
        first = [(one.name, "", one.first_share, one.first_interval) for one in self.judges]
        moved = "Of the answers that moved with the order: share that took the first place"
        found = (
            forest("Does the judge give the same answer again?", again, value="share"),
            forest(moved, first, value="share"),
        )
        return tuple(figure for figure in found if figure is not None)


def self_consistency(votes: Tally, *, repeats: Sequence[str], alpha: float = 0.05) -> OrderResult:
    r"""Tell how often a judge gives the same answer when it is asked again.

    Its mean accuracy over the askings is at most the mean, over items, of the share of its
    commonest answer, whatever the truth.

    Examples
    --------
    >>> votes = Tally.of({"run1": [0, 0, 1, 1], "run2": [0, 0, 1, 0], "run3": [0, 0, 1, 1]})
    >>> found = self_consistency(votes, repeats=["run1", "run2", "run3"])
    >>> found.judges[0].consistent, round(found.judges[0].best_accuracy, 3)
    (0.75, 0.917)
    """
    if len(repeats) < 2:
        raise InputError(f"repeats must name two or more columns, got {list(repeats)}")
    panel = Panel.of(votes, voters=tuple(repeats))
    panel.require_items("self_consistency")
    codes, counts = _asked_each_time(panel, repeats)
    n = int(counts.sum())
    same = int(counts @ (codes == codes[:, :1]).all(axis=1))
    commonest = np.stack([(codes == c).sum(axis=1) for c in range(len(panel.classes))]).max(axis=0)
    score = OrderScore(
        name=_in_common(repeats),
        n_items=n,
        consistent=same / n,
        interval=clopper_pearson(same, n, alpha=alpha),
        best_accuracy=float(counts @ commonest) / (n * len(repeats)),
    )
    return OrderResult.of(repeated_verdict(len(repeats), score), [score])


def position_bias(
    votes: Tally,
    *,
    pairs: Sequence[tuple[str, str]],
    ties: Sequence[Label] = (),
    recorded: Recorded | None = None,
    alpha: float = 0.05,
) -> OrderResult:
    r"""Tell which judges prefer a place rather than an answer.

    Per item, a judge takes the first place (+1), the second (-1) or neither (0, a tie) in each
    order, and half the sum is its lean. Without bias a lean is as likely up as down, so the leans
    that are not zero are fair coins: an exact test. If d is the share of items on which the answer
    changes, its mean accuracy over both orders is at most :math:`1 - d/2`, whatever the truth.

    Parameters
    ----------
    votes
        A tally with all columns.
    pairs
        For every judge its column in one order and its column in the other.
    ties
        Votes for neither answer.
    recorded
        ``position``: labels name the place. ``answer``: labels name the answer, and the first label
        in canonical order is the one that stood first in the first column of a pair. None: first
        and second are places, A and B too unless a judge then changes most of its answers; any
        others are asked about.
    alpha
        One minus the level; p-values are adjusted over the judges (Holm).

    Examples
    --------
    >>> votes = Tally.of({
    ...     "gpt_ab": ["A"] * 95 + ["B"] * 5, "gpt_ba": ["B"] * 70 + ["A"] * 25 + ["B"] * 5,
    ...     "llm_ab": ["A", "B"] * 50, "llm_ba": ["B", "A"] * 49 + ["tie", "A"],
    ... })
    >>> found = position_bias(votes, pairs=[("gpt_ab", "gpt_ba"), ("llm_ab", "llm_ba")], ties=["tie"])
    >>> [(one.name, round(one.lean, 3)) for one in found.judges]
    [('gpt', 0.2), ('llm', 0.005)]
    """
    panel = Panel.of(votes, voters=[one for pair in pairs for one in pair], never_true=ties)
    panel.require_binary("position_bias")
    panel.require_items("position_bias")
    by_place = (recorded or _recorded(panel, pairs)) == "position"

    scores = [_compared(panel, pair, by_place, alpha) for pair in pairs]
    adjusted = holm([one.p_value for one in scores]).tolist()
    scores = [replace(one, p_value=p) for one, p in zip(scores, adjusted, strict=True)]
    return OrderResult.of(panel_position_verdict(scores, alpha=alpha), scores)


def are_two_orders(first: str, second: str) -> bool:
    """Say whether two names can be one judge's answers to both orders: alike, or named by order.

    >>> are_two_orders("gpt_ab", "gpt_ba"), are_two_orders("normal", "flipped")
    (True, True)
    >>> are_two_orders("gpt", "claude")
    False
    """
    one, other = (set(re.split(r"[\W_]+", name.lower())) - {""} for name in (first, second))
    return bool(one & other) or bool(one & _ORDERS and other & _ORDERS)


def _recorded(panel: Panel, pairs: Sequence[tuple[str, str]]) -> Recorded:
    """Say what labels name, or ask: read the other way round, every change becomes agreement.

    Letters are places, unless some judge then changes most of its answers: it may as well be one
    that hardly changes any, and whose letters name the answers.
    """
    words = {str(label).strip().lower() for label in panel.classes}
    if words in _PLACES and not (words in _LETTERS and any(_same_word(panel, p) for p in pairs)):
        return "position"
    raise AskError(
        f"Do {' and '.join(panel.keys)} name the answer, or the place where it stood?",
        role="recorded",
        candidates=("answer", "position"),
        calls=("--recorded answer", "--recorded position"),
    )


def _same_word(panel: Panel, pair: tuple[str, str]) -> bool:
    """Say whether a judge writes the same label in both orders on most items without a tie."""
    codes, counts = _asked_each_time(panel, pair)
    lean = (codes < 2).all(axis=1)
    return bool(counts[lean] @ (codes[lean, 0] == codes[lean, 1]) > counts[lean].sum() / 2)


def _compared(panel: Panel, pair: tuple[str, str], by_place: bool, alpha: float) -> OrderScore:
    """Compare both orders of one judge: 0 and 1 name the answer, anything above is a tie."""
    codes, counts = _asked_each_time(panel, pair)
    one, other = codes.T
    if by_place:
        other = np.where(other < 2, 1 - other, other)
    place = np.array([1.0, -1.0, 0.0])
    # In the other order the first answer stands second.
    lean = (place[np.minimum(one, 2)] - place[np.minimum(other, 2)]) / 2

    n, same = int(counts.sum()), int(counts @ (one == other))
    up, down = int(counts @ (lean > 0)), int(counts @ (lean < 0))
    unmoved = Unknown("no answer moved with the order")
    share: float | Unknown = unmoved
    ends: Interval | Unknown = unmoved
    p = 1.0
    if up + down:
        share = up / (up + down)
        ends = clopper_pearson(up, up + down, alpha=alpha)
        p = min(1.0, 2 * float(binomial_up_to(min(up, down), up + down, 0.5)))
    return OrderScore(
        name=_in_common(pair) if len(panel.names) > 2 else pair[0],
        n_items=n,
        consistent=same / n,
        interval=clopper_pearson(same, n, alpha=alpha),
        best_accuracy=(1 + same / n) / 2,
        first_share=share,
        first_interval=ends,
        lean=float(counts @ lean) / n,
        p_value=p,
        ties=float(counts @ ((one > 1).astype(float) + (other > 1))) / (2 * n),
    )


def _asked_each_time(panel: Panel, names: Sequence[str]) -> tuple[Ints, Floats]:
    """Return the votes of these columns on the items that have one in all of them."""
    codes = panel.codes[:, [panel.names.index(name) for name in names]]
    whole = (codes >= 0).all(axis=1)
    if not whole.any():
        raise InputError(_not_both(names))
    return codes[whole], panel.counts[whole]


def _not_both(names: Sequence[str]) -> str:
    return f"no item has a vote in all of {', '.join(names)}"


def _in_common(names: Sequence[str]) -> str:
    """Return how all names begin: gpt for gpt_ab and gpt_ba."""
    alike = takewhile(lambda signs: len(set(signs)) == 1, zip(*names, strict=False))
    return "".join(signs[0] for signs in alike).rstrip("_-. ") or names[0]
