"""Windows over a stream, and the same question asked twice."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
from tallystick.results import to_json
from tallystick.table import Tally
from tallystick.verbs.judge import (
    Windows,
    majority,
    position_bias,
)

POINT = Point(prevalence="2/5", accuracy=dict.fromkeys("xyz", ("17/20", "4/5")))


def windows(batches, **options):
    """Evaluate a stream window by window, the last one too."""
    held = Windows(**options)
    return [window for batch in batches for window in held.push(batch)] + held.finish()


def stream(n, rng):
    data = simulate(POINT).independent_draws(n, rng=rng)
    return {name: data[name] for name in "xyz"}


def test_windows_do_not_depend_on_how_the_stream_is_cut_into_batches():
    data = stream(1000, 1)
    whole = windows([data], size=250, evaluation=majority)
    parts = [
        {name: values[i : i + 37] for name, values in data.items()} for i in range(0, 1000, 37)
    ]
    cut = windows(parts, size=250, evaluation=majority)
    assert [window.to_dict() for window in whole] == [window.to_dict() for window in cut]
    assert [(window.start, window.end) for window in whole] == [
        (0, 250),
        (250, 500),
        (500, 750),
        (750, 1000),
    ]
    assert to_json(whole[0].to_dict())


def test_a_change_of_one_judge_is_told_and_a_quiet_stream_is_not():
    quiet = windows([stream(4000, 2)], size=200, evaluation=majority)
    assert not any(window.change for window in quiet)
    data = stream(4000, 2)
    flip = np.random.default_rng(0).random(4000) < 0.35
    flip[:2000] = False
    data["y"] = np.where(flip, np.where(data["y"] == "a", "b", "a"), data["y"])
    found = [
        window.index for window in windows([data], size=200, evaluation=majority) if window.change
    ]
    assert found[0] in (10, 11, 12)
    loud = next(
        window for window in windows([data], size=200, evaluation=majority) if window.change
    )
    assert "y" in loud.change.proves
    assert "only labels tell them apart" in loud.change.does_not_prove
    assert "at most 5.0% of streams without change" in loud.change.proves
    assert loud.details[0]["range"][0] <= 2000 <= loud.details[0]["range"][1]
    assert loud.to_dict()["change"]["around"] == loud.details[0]["around"]


def test_false_alarms_are_rarer_than_alpha_over_whole_streams():
    alarms = 0
    for seed in range(30):
        alarms += any(
            window.change
            for window in windows(
                [stream(1000, 100 + seed)], size=100, evaluation=majority, alpha=0.05
            )
        )
    assert alarms <= 6  # P(Binomial(30, .05) > 6) is 6e-4


def test_a_window_that_cannot_be_evaluated_says_why():
    same = {"x": [0] * 10, "y": [0] * 10}
    [window] = windows([same], size=10, evaluation=majority)
    assert window.result is None
    assert "every vote is 0" in window.reason


def test_wrong_sizes_and_foreign_columns_are_refused():
    with pytest.raises(InputError, match="size"):
        Windows(size=0)
    with pytest.raises(InputError, match="alpha"):
        Windows(size=5, alpha=2)
    held = Windows(size=5)
    held.push({"x": [0], "y": [1]})
    with pytest.raises(InputError, match="columns"):
        held.push({"x": [0], "z": [1]})


def test_position_bias_is_found_and_named():
    biased = Tally.of(
        {"ab": ["x"] * 60 + ["x"] * 30 + ["y"] * 10, "ba": ["x"] * 60 + ["y"] * 30 + ["x"] * 10}
    )
    pair = [("ab", "ba")]
    found = position_bias(biased, pairs=pair, recorded="answer")
    assert "favours the first place" in found.verdict
    assert found.judges[0].first_share == pytest.approx(0.75)
    assert found.judges[0].best_accuracy == pytest.approx(0.8)
    by_place = Tally.of(
        {"ab": [1] * 60 + [1] * 30 + [2] * 10, "ba": [2] * 60 + [1] * 30 + [2] * 10}
    )
    again = position_bias(by_place, pairs=pair, recorded="position")
    assert again.judges[0].first_share == pytest.approx(0.75)
    even = position_bias(Tally.of({"ab": ["A", "B"], "ba": ["B", "A"]}), pairs=pair)
    assert even.judges[0].consistent == 1
    with pytest.raises(InputError, match="all of"):
        position_bias(Tally.of({"ab": ["A", None], "ba": [None, "B"]}), pairs=pair)
