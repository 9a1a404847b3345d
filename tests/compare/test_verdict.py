import numpy as np
import pandas as pd

from tallystick import compare


def test_slices_of_compare_say_who_is_better_in_points_with_one_decimal():
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
    told = [str(part) for part in result.slices]
    assert all("new is better than old" in text for text in told)
    first = result.slices[0].answer.pairs[0]
    low, high = (f"{100 * end:.1f}" for end in first.interval)
    assert f"{100 * first.difference:.1f} points [{low}, {high}]" in told[0]


def test_columns_named_after_one_measure_are_compared_in_its_direction():
    rng = np.random.default_rng(0)
    base = rng.normal(6, 0.3, 80)
    table = {"old latency (ms)": np.exp(base), "new latency (ms)": np.exp(base - 0.5)}
    result = compare(table)
    assert result.better == "lower"
    assert result.verdict.startswith("new latency (ms) is better than old latency (ms)")
    assert any("lower is better, by the name 'latency'" in note for note in result.notes)
    assert compare(table, lower_is_better=False).contenders == ("old latency (ms)",)
