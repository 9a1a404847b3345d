"""A gate on changed answers: an API that became flaky does not pass it."""

import csv
import json
import random
import sys
from collections import Counter
from types import SimpleNamespace

import pytest

from tallystick.cli import main

ASK = ("shift", "--data", "table.csv", "--item", "id", "--api", "python:fake_api:ask", "--yes")


@pytest.fixture
def shift(tmp_path, monkeypatch, capsys):
    """Run shift on a table against a function of a row; return the exit code, JSON and messages."""
    monkeypatch.chdir(tmp_path)

    def run(rows, answer, *options, truth=True):
        with (tmp_path / "table.csv").open("w", newline="", encoding="utf-8") as stream:
            out = csv.DictWriter(stream, fieldnames=list(rows[0]))
            out.writeheader()
            out.writerows(rows)
        calls = []

        def ask(row):
            calls.append(row["id"])
            return answer(row)

        monkeypatch.setitem(sys.modules, "fake_api", SimpleNamespace(ask=ask))
        labels = ("--truth", "truth") if truth else ()
        with pytest.raises(SystemExit) as left:
            main([*ASK, "--old", "old", *labels, "--json", *options])
        seen = capsys.readouterr()
        body = json.loads(seen.out) if seen.out else None
        return SimpleNamespace(code=left.value.code or 0, body=body, err=seen.err, calls=len(calls))

    return run


def items(number, seed=0, *, slip=0.0, draws=1):
    """Items of two labels; the old API is right on four fifths, and slips by chance."""
    rng = random.Random(seed)
    rows = []
    for n in range(number):
        truth = rng.choice("ab")
        usual = truth if rng.random() < 0.8 else other(truth)
        said = [other(usual) if rng.random() < slip else usual for _ in range(draws)]
        names = ("old", *(f"old{k}" for k in range(2, draws + 1)))
        rows.append(
            {"id": n, "truth": truth, "usual": usual, **dict(zip(names, said, strict=True))}
        )
    return rows


def other(label):
    return "b" if label == "a" else "a"


def flaky(rate, seed, instead=lambda row: other(row["usual"])):
    asked = Counter()

    def answer(row):
        # By item, since several are asked at a time.
        asked[row["id"]] += 1
        rng = random.Random(f"{seed} {row['id']} {asked[row['id']]}")
        return instead(row) if rng.random() < rate else row["usual"]

    return answer


@pytest.mark.parametrize("rate", [0.1, 0.25])
@pytest.mark.parametrize("kind", ["flips", "refuses"])
def test_a_flaky_api_does_not_pass_the_flip_gate(shift, kind, rate):
    """All passed: flips that went back were subtracted, down to "-10.2% beyond"."""
    more = {} if kind == "flips" else {"instead": lambda row: "I'm sorry, I can't help with that."}
    less_stable = 0
    for seed in range(6):
        done = shift(
            items(500, seed),
            flaky(rate, seed, **more),
            *("--budget", "250", "--seed", str(seed), "--gate", "flip_rate <= 1%"),
        )
        assert done.code in (10, 11), done.body["verdict"]
        assert done.body["gates"][0]["interval"][0] >= 0
        assert done.body["gates"][0]["interval"][1] > 0.05
        said = "The API became less stable" in done.body["verdict"]
        assert said == done.body["noise"]["less_stable"]
        less_stable += said
        if said and done.code == 11:
            assert done.body["needed"]["of"] == "old answers per item (--old-draws)"
    assert less_stable >= 4


@pytest.mark.parametrize("repeats", ["0", "2", "5"])
def test_few_repeats_do_not_let_a_flaky_api_pass(shift, repeats):
    for seed in range(2):
        done = shift(
            items(500, seed),
            flaky(0.1, seed),
            *("--budget", "200", "--repeats", repeats, "--seed", str(seed)),
            *("--gate", "flip_rate <= 1%"),
        )
        assert done.code == 11, done.body["verdict"]


def test_an_api_that_tosses_a_coin_on_some_items_does_not_pass(shift):
    """Its repeats confirm as often as they revert, as those of an API that was always so."""
    rng = random.Random(3)

    def ask(row):
        return rng.choice("ab") if int(row["id"]) % 5 == 0 else row["usual"]

    done = shift(items(2000), ask, "--budget", "1500", "--gate", "flip_rate <= 3%")
    assert done.code == 11, done.body["verdict"]


def test_a_share_of_changed_answers_is_never_negative(shift):
    done = shift(items(400, slip=0.1), flaky(0.1, 1), "--budget", "300")
    beyond = done.body["noise"]["beyond"]
    assert beyond["estimate"] is None or beyond["estimate"] >= 0
    assert beyond["interval"][0] >= 0
    assert "−" not in done.body["verdict"].partition("of the answers differ")[2]


def test_without_labels_a_flaky_api_is_said_to_be_less_stable(shift):
    done = shift(
        items(500), flaky(0.2, 2), "--budget", "250", "--gate", "flip_rate <= 1%", truth=False
    )
    assert done.code == 11
    assert "The API became less stable" in done.body["verdict"]


def test_an_unchanged_api_passes_and_is_as_stable_as_before(shift):
    done = shift(items(1000), flaky(0.0, 1), "--budget", "600", "--gate", "flip_rate <= 1%")
    assert done.code == 0
    assert "less stable" not in done.body["verdict"]


def test_old_draws_let_an_unchanged_noisy_api_pass(shift):
    """One old answer cannot show how noisy the old API was; two can."""
    rows = items(2000, slip=0.02, draws=2)
    options = ("--budget", "1500", "--gate", "flip_rate <= 2%")
    alone = shift(rows, flaky(0.02, 1), *options)
    assert alone.code == 11, alone.body["verdict"]
    both = shift(rows, flaky(0.02, 1), *options, "--old-draws", "old2")
    assert both.code == 0, both.body["verdict"]
    assert "less stable" not in both.body["verdict"]
    assert shift(rows, flaky(0.02, 1), *options, "--old-draws", "old2", truth=False).code == 0


def test_with_old_draws_the_gate_fails_where_the_lower_end_is_above_the_bar(shift):
    done = shift(
        items(800, draws=2),
        flaky(0.25, 1),
        *("--budget", "600", "--old-draws", "old2", "--gate", "flip_rate <= 1%"),
    )
    assert done.code == 10
    assert "The API became less stable" in done.body["verdict"]
    assert done.body["gates"][0]["estimate"] > 0.01


def test_an_old_draw_that_is_blank_is_refused_before_a_call(shift):
    rows = items(50, draws=2)
    rows[7]["old2"] = ""
    done = shift(rows, flaky(0.0, 1), "--budget", "40", "--old-draws", "old2")
    assert (done.code, done.calls) == (1, 0)
    assert "item 7: 'old2' is blank" in done.err


def test_failed_calls_that_could_turn_a_gate_leave_it_undecided(shift):
    """Every fifth call failed, and "No answer changed" passed."""
    asked = iter(range(10**6))

    def ask(row):
        if next(asked) % 5 == 4:
            raise ValueError("overloaded")
        return row["usual"]

    gates = ("--gate", "flip_rate <= 1%", "--gate", "accuracy_change >= -2%")
    done = shift(items(2000), ask, "--budget", "1000", *gates, "--gate", "flip_rate <= 50%")
    assert done.code == 11
    assert [one["passed"] for one in done.body["gates"]] == [None, None, True]
