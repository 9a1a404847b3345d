"""Files, frames and saved tallies give the same counts, and so the same cautions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tallystick import judge, score
from tallystick.table import Tally, read
from tallystick.table.doubts import agreements

# A doubt is a Python warning too; here the results are looked at.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

DRAW = np.random.default_rng(4)
GPT = DRAW.integers(0, 2, 300)
CLAUDE = np.where(DRAW.random(300) < 0.75, GPT, 1 - GPT)
KNOWN = DRAW.random(300) < 0.4
ROLES = {"truth": "gold", "judges": ("gpt", "claude")}


def table(gold: Any) -> dict[str, list[Any]]:
    cells = [value if known else None for value, known in zip(gold, KNOWN.tolist(), strict=True)]
    return {"gold": cells, "gpt": GPT.tolist(), "claude": CLAUDE.tolist()}


def test_a_table_that_was_not_counted_gives_what_its_counts_give() -> None:
    looked = read(table(GPT.tolist()), **ROLES)
    counted = read(table(GPT.tolist()), **ROLES)
    counted.tally("judges", "truth")
    same = {
        "gpt": (KNOWN.sum(), KNOWN.sum()),
        "claude": (KNOWN.sum(), (GPT == CLAUDE)[KNOWN].sum()),
    }
    assert agreements(looked) == agreements(counted) == same


@pytest.mark.parametrize("form", ["table", "tally", "lazy"])
def test_a_copy_is_said_of_tables_tallies_and_lazy_frames(form: str) -> None:
    source: Any = table(GPT.tolist())
    if form == "tally":
        source = Tally.of(source)
    elif form == "lazy":
        source = pytest.importorskip("polars").LazyFrame(source)
    result = judge(source, **ROLES)
    assert any("'gold' equals 'gpt' on all" in text for text in result.warnings), form


def test_pass_and_fail_copied_from_a_judge_of_0_and_1_are_a_copy_and_not_the_opposite() -> None:
    words = np.where(GPT == 1, "pass", "fail").tolist()
    rows = {"item": list(range(300)), "system": ["a", "b"] * 150, **table(words)}
    warnings = score(rows, item="item", system="system", **ROLES).warnings
    assert any("'gold' equals 'gpt' on all" in text for text in warnings)
    assert not any("the other way round" in text or "right rows" in text for text in warnings)


def test_other_words_are_not_read_as_right_and_wrong() -> None:
    found = agreements(read(table(np.where(GPT == 1, "spam", "ham").tolist()), **ROLES))
    assert {same for _, same in found.values()} == {0}


def test_a_column_with_one_more_word_than_the_truth_shares_its_labels() -> None:
    rows = {"gold": ["yes", "no"] * 20, "gpt": ["yes", "maybe"] * 20, "claude": [1, 0] * 20}
    found = agreements(read(rows, **ROLES))
    assert found == {"gpt": (40, 20), "claude": (40, 40)}


def test_without_a_truth_or_with_weights_alone_there_is_nothing_to_check(tmp_path: Path) -> None:
    assert not agreements(read({"gpt": [0, 1], "claude": [1, 1]}, judges=("gpt", "claude")))
    weighted = Tally.of({**table(GPT.tolist()), "w": [0.5] * 300}, weight="w")
    assert not agreements(read(weighted, **ROLES))
