"""A truth that is a copy, is turned round or stands on other rows decides nothing, and that is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tallystick import bound, compare, judge, read, score, shift
from tallystick.results import Interval, Result, Slice
from tallystick.table import Tally
from tallystick.table.doubts import Doubt, copied_from, find_doubt, with_doubt

# A doubt is a Python warning too; here the results are looked at.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROWS = 300
RNG = np.random.default_rng(3)
TRUE = RNG.integers(0, 2, ROWS)
GPT, CLAUDE, LLAMA = (
    np.where(RNG.random(ROWS) < right, TRUE, 1 - TRUE) for right in (0.85, 0.8, 0.75)
)
KNOWN = RNG.random(ROWS) < 0.3
VOTES = {"gpt": GPT.tolist(), "claude": CLAUDE.tolist(), "llama": LLAMA.tolist()}
ROLES: dict[str, Any] = {"truth": "gold", "judges": ("gpt", "claude")}


def labels(of: Any) -> list[Any]:
    """The labels of a third of the rows."""
    return [one if known else None for one, known in zip(list(of), KNOWN, strict=True)]


def doubted(table: dict[str, Any], **roles: Any) -> str:
    found = find_doubt(read(table, **(roles or {**ROLES, "judges": tuple(table)[1:]})))
    return "" if found is None else found.warning


def is_warned(result: Result) -> bool:
    seen = any("copied from 'gpt'" in text for text in result.warnings)
    assert seen == any("was made without 'gpt'" in text for text in result.assumptions)
    return seen


# A copy of one voter.


def test_judge_says_it_and_its_intervals_rest_on_it() -> None:
    copied = judge({**VOTES, "gold": labels(GPT.tolist())}, truth="gold")
    assert is_warned(copied)
    assert all(row.interval.promise.startswith("under 'gold' was made") for row in copied.judges)
    honest = judge({**VOTES, "gold": labels(TRUE.tolist())}, truth="gold")
    assert not is_warned(honest)
    assert not any("was made without" in row.interval.promise for row in honest.judges)


def test_score_compare_bound_and_shift_say_the_same() -> None:
    systems = {"id": [k // 2 for k in range(ROWS)], "system": ["a", "b"] * (ROWS // 2)}
    for gold, copied in ((GPT, True), (TRUE, False)):
        table = {**VOTES, "gold": labels(gold.tolist())}
        assert is_warned(score({**systems, **table}, truth="gold")) == copied
        assert is_warned(compare(table, truth="gold")) == copied
        weak = bound(table, truth="gold", prediction="gpt", weak=("claude", "llama"))
        assert is_warned(weak) == copied
        both = {"label": gold.tolist(), "gpt": GPT.tolist(), "new": CLAUDE.tolist()}
        assert is_warned(shift(both, truth="label", old="gpt", new="new")) == copied


@pytest.mark.parametrize(
    "agreements",
    [
        {"gpt": (20, 20), "claude": (20, 10)},  # few labels
        {"gpt": (51, 51), "claude": (51, 48)},  # easy items
        {"gpt": (500, 500)},  # nothing to hold it against
        {"gpt": (500, 499), "claude": (500, 300)},  # a judge that errs once
        {"gpt": (80, 80), "claude": (80, 80)},  # everybody is right
    ],
)
def test_a_good_judge_is_not_suspected(agreements) -> None:
    assert copied_from(agreements) is None


@pytest.mark.parametrize("form", ["table", "tally", "lazy"])
def test_a_copy_is_said_of_tables_tallies_and_lazy_frames(form: str) -> None:
    source: Any = {"gold": labels(GPT.tolist()), "gpt": VOTES["gpt"], "claude": VOTES["claude"]}
    if form == "tally":
        source = Tally.of(source)
    elif form == "lazy":
        source = pytest.importorskip("polars").LazyFrame(source)
    assert is_warned(judge(source, **ROLES))


@pytest.mark.parametrize(
    ("gold", "gpt", "is_copy"),
    [
        (("no", "yes"), ("no", "Yes "), True),  # spellings
        (("fail", "pass"), (0, 1), True),  # words for right and wrong
        (("ham", "spam"), (0, 1), False),  # other words
    ],
)
def test_how_labels_are_written_hides_no_copy_and_makes_none(gold, gpt, is_copy: bool) -> None:
    votes = {"gpt": [gpt[k] for k in GPT], "claude": [gpt[k] for k in CLAUDE]}
    said = doubted({"gold": labels([gold[k] for k in GPT]), **votes})
    same = f"'gold' equals 'gpt' on all {KNOWN.sum()} rows that have both, while 'claude' equals it"
    assert (same in said) == is_copy
    assert is_copy or not said


def test_a_truth_of_one_label_is_no_copy_of_whoever_always_says_it() -> None:
    assert not doubted({"gold": [1] * 90, "gpt": [1] * 90, "claude": [1, 0] * 45})


def test_weights_say_nothing_of_rows() -> None:
    table = {"gold": labels(GPT.tolist()), "gpt": VOTES["gpt"], "claude": VOTES["claude"]}
    weighted = Tally.of({**table, "w": [0.5] * ROWS}, weight="w")
    assert find_doubt(read(weighted, **ROLES)) is None


# The opposite, and other rows.


def test_votes_that_all_say_the_opposite_are_said() -> None:
    turned = {name: [1 - one for one in column] for name, column in VOTES.items()}
    gold = labels(TRUE.tolist())
    assert "written the other way round" in doubted({"gold": gold, **turned})
    assert "way round" not in doubted({"gold": gold, **turned, "gpt": VOTES["gpt"]})
    # Columns that always say the rarer label are wrong, and not opposite.
    rare = (np.random.default_rng(5).random(200) < 0.25).astype(int).tolist()
    assert not doubted({"gold": rare, "x": [1] * 200, "y": [int(k % 40 > 0) for k in range(200)]})


def panel(seed: int, *right: float) -> dict[str, list[int]]:
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 2, 200)
    votes = [np.where(rng.random(200) < share, true, 1 - true) for share in right]
    return {"gold": true.tolist(), **{f"j{k}": one.tolist() for k, one in enumerate(votes)}}


def test_labels_one_row_too_far_are_a_warning_and_an_assumption() -> None:
    table = panel(1, 0.9, 0.85, 0.8)
    off = judge({**table, "gold": [table["gold"][-1], *table["gold"][:-1]]}, truth="gold")
    assert off.decision == "undecided"
    assert off.verdict.startswith("The labels decide nothing, because they look misplaced")
    assert any("on the right rows?" in text for text in off.warnings)
    assert any("stand on the right rows" in text for text in off.assumptions)
    right = judge(table, truth="gold")
    assert not any("right rows" in text for text in (*right.warnings, *right.assumptions))
    # Poor judges agree with nobody, not even with one another.
    assert not doubted(panel(2, 0.5, 0.5))
    # Few labels say nothing.
    few = {name: column[:15] for name, column in table.items()}
    assert not doubted({**few, "gold": few["gold"][-1:] + few["gold"][:-1]})


# The reaction.


@dataclass(frozen=True, kw_only=True)
class DoubtedResult(Result):
    held: tuple[Interval, ...] = ()
    named: dict[str, Interval] | None = None


def test_every_interval_rests_on_the_assumption_however_deep_it_lies() -> None:
    exact = Interval(0.1, 0.2, guarantee="exact")
    under = Interval(0.1, 0.2, guarantee="under", assumption="A")
    inner = DoubtedResult(verdict="part", n_items=1, held=(exact,))
    result = DoubtedResult(
        verdict="all",
        n_items=2,
        held=(exact, under),
        named={"x": exact},
        slices=(Slice("s", inner),),
        basis="95% intervals.",
    )
    doubt = Doubt(why="are odd", seen="W", way_out="X", assumption="B")
    changed = with_doubt(result, doubt)
    assert with_doubt(changed, doubt) is changed
    assert with_doubt(result, None) is result
    assert [one.promise for one in changed.held] == ["under B", "under A; B"]
    assert changed.named is not None
    assert changed.named["x"].promise == "under B"
    assert changed.slices[0].answer.held[0].promise == "under B"
    assert changed.basis == "95% intervals. They hold only if B."
    assert (changed.warnings, changed.assumptions) == (("the labels are odd: W. X",), ("B",))
