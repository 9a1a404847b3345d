"""A truth that is a copy of one column is said, and every interval then rests on it."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import bound, compare, judge, read, score, shift
from tallystick.table.doubts import copied_from, find_doubt

# A doubt is a Python warning too; here the results are looked at.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROWS = 300
RNG = np.random.default_rng(3)
TRUE = RNG.integers(0, 2, ROWS)
GPT = np.where(RNG.random(ROWS) < 0.85, TRUE, 1 - TRUE)
CLAUDE = np.where(RNG.random(ROWS) < 0.8, TRUE, 1 - TRUE)
LLAMA = np.where(RNG.random(ROWS) < 0.75, TRUE, 1 - TRUE)
KNOWN = RNG.random(ROWS) < 0.3
VOTES = {"gpt": GPT.tolist(), "claude": CLAUDE.tolist(), "llama": LLAMA.tolist()}


def labels(of: np.ndarray) -> list[int | None]:
    return [int(one) if known else None for one, known in zip(of, KNOWN, strict=True)]


def is_warned(result) -> bool:
    seen = any("copied from 'gpt'" in text for text in result.warnings)
    assert seen == any("was made without 'gpt'" in text for text in result.assumptions)
    return seen


def test_judge_says_it_and_its_intervals_rest_on_it() -> None:
    copied = judge({**VOTES, "gold": labels(GPT)}, truth="gold")
    assert is_warned(copied)
    assert all(row.interval.promise.startswith("under 'gold' was made") for row in copied.judges)
    honest = judge({**VOTES, "gold": labels(TRUE)}, truth="gold")
    assert not is_warned(honest)
    assert not any("was made without" in row.interval.promise for row in honest.judges)


def test_score_compare_bound_and_shift_say_the_same() -> None:
    systems = {"id": [k // 2 for k in range(ROWS)], "system": ["a", "b"] * (ROWS // 2)}
    for gold, copied in ((labels(GPT), True), (labels(TRUE), False)):
        table = {**VOTES, "gold": gold}
        assert is_warned(score({**systems, **table}, truth="gold")) == copied
        assert is_warned(compare(table, truth="gold")) == copied
        weak = bound(table, truth="gold", prediction="gpt", weak=("claude", "llama"))
        assert is_warned(weak) == copied
    for gold, copied in ((GPT, True), (TRUE, False)):
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


def test_spellings_and_blanks_do_not_hide_a_copy() -> None:
    words = np.where(GPT == 1, "Yes ", "no").tolist()
    gold = ["" if one is None else ("yes" if one else "no") for one in labels(GPT)]
    table = {"gold": gold, "gpt": words, "claude": np.where(CLAUDE == 1, "yes", "no").tolist()}
    found = find_doubt(read(table, truth="gold", judges=("gpt", "claude")))
    assert found is not None
    same = f"'gold' equals 'gpt' on all {KNOWN.sum()} rows that have both, while 'claude' equals it"
    assert found.seen.startswith(same)


def test_a_truth_of_one_label_is_no_copy_of_whoever_always_says_it() -> None:
    table = {"gold": [1] * 90, "gpt": [1] * 90, "claude": [1, 0] * 45}
    assert find_doubt(read(table, truth="gold", judges=("gpt", "claude"))) is None


def test_votes_that_all_say_the_opposite_are_said() -> None:
    turned = {name: [1 - one for one in column] for name, column in VOTES.items()}
    result = judge({**turned, "gold": labels(TRUE)}, truth="gold")
    assert any("written the other way round" in text for text in result.warnings)
    one = {**turned, "gpt": VOTES["gpt"], "gold": labels(TRUE)}
    assert not any("other way round" in text for text in judge(one, truth="gold").warnings)
