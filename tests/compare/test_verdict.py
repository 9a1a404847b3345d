import numpy as np
import pandas as pd

from tallystick import compare


def test_slices_of_compare_are_a_table_in_one_unit_with_one_decimal():
    rng = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "old": (rng.random(n) < 0.5).astype(int),
            "new": (rng.random(n) < 0.8).astype(int),
            "lang": ["en", "de", "fr"] * 100,
        }
    )
    result = compare(table, by="lang")
    cells = [part.answer.slice_cells() for part in result.slices]
    assert [list(row) for row in cells] == [["items", "best", "next", "difference", "verdict"]] * 3
    assert all(row["verdict"] == "new is better" for row in cells)
    first = result.slices[0].answer.pairs[0]
    shown = f"+{100 * first.difference:.1f} points [+{100 * first.interval.low:.1f}, "
    assert cells[0]["difference"].startswith(shown)


def test_columns_named_after_one_measure_are_compared_in_its_direction():
    rng = np.random.default_rng(0)
    base = rng.normal(6, 0.3, 80)
    table = {"old latency (ms)": np.exp(base), "new latency (ms)": np.exp(base - 0.5)}
    result = compare(table)
    assert result.better == "lower"
    assert result.verdict.startswith("new latency (ms) is better than old latency (ms)")
    assert any("lower is better, by the name 'latency'" in note for note in result.notes)
    assert compare(table, lower_is_better=False).contenders == ("old latency (ms)",)
