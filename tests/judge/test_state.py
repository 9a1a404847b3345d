"""A checkpoint survives a restart without forgetting."""

import json

import numpy as np
import pytest

from tallystick.errors import FileError, InputError
from tallystick.verbs.judge import Windows, evaluate, majority
from tallystick.verbs.judge.windows import load_state, save_state


def stream(n=2600, change=1500, rng=1):
    draw = np.random.default_rng(rng)
    truth = draw.integers(0, 2, n)
    right = draw.random((n, 3)) < 0.9
    right[change:, 0] = draw.random(n - change) < 0.6
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    return {name: ["no" if v == 0 else "yes" for v in votes[:, j]] for j, name in enumerate("abc")}


def part(data, start, end):
    return {name: values[start:end] for name, values in data.items()}


def test_a_restart_in_mid_window_gives_the_same_windows_and_alarms(tmp_path):
    data = stream()
    whole = Windows(size=300, evaluation=majority)
    expected = [window.to_dict() for window in whole.push(data)]
    assert any(window["change"] for window in expected)

    found = []
    for start, end in ((0, 410), (410, 1733), (1733, 2600)):
        again = Windows(size=300, evaluation=majority)
        load_state(again, tmp_path / "state.json")
        found += [window.to_dict() for window in again.push(part(data, start, end))]
        save_state(again, tmp_path / "state.json")
    assert found == expected


def test_evaluate_goes_on_from_a_state(tmp_path):
    data, path = stream(), tmp_path / "state.json"
    options = {"window": 300, "method": "majority"}
    once = evaluate(data, **options).windows
    first = evaluate(part(data, 0, 1000), **options, state=path).windows
    rest = evaluate(part(data, 1000, 2600), **options, state=path).windows
    assert [window["partial"] for window in first] == [False] * 3 + [True]
    assert first[-1]["end"] == 1000
    assert [*first[:-1], *rest] == list(once)


def test_a_state_of_another_stream_is_refused(tmp_path):
    path = tmp_path / "state.json"
    held = Windows(size=300, evaluation=majority)
    held.push(part(stream(), 0, 100))
    save_state(held, path)
    with pytest.raises(InputError, match="written with window 300, and now it is 200"):
        load_state(Windows(size=200), path)
    path.write_text("[1]", encoding="utf-8")
    with pytest.raises(FileError, match="cannot be read"):
        load_state(Windows(size=300), path)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(FileError, match="cannot be read"):
        load_state(Windows(size=300), path)
    path.write_text(json.dumps({"version": 9}), encoding="utf-8")
    with pytest.raises(InputError, match="version 9"):
        load_state(Windows(size=300), path)


def test_a_state_without_windows_is_refused():
    with pytest.raises(InputError, match="--window N"):
        evaluate(stream(), state="x.json")


def test_free_text_is_refused_before_memory_grows():
    held = Windows(size=600, evaluation=majority)
    with pytest.raises(InputError, match="free text"):
        held.push({"a": [f"t{i}" for i in range(600)], "b": ["x"] * 600})
