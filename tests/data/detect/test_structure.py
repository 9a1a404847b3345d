"""Tables as people bring them: odd names, odd orders, facts that look like answers. Right or asked,
never wrong."""

import numpy as np
import pyarrow as pa
import pytest

from tests.data.detect.seen import seen
from tests.data.detect.test_detect import noisy

N = 400
draw = np.random.default_rng(0)
WORDS = draw.choice(["ham", "spam"], N, p=[0.6, 0.4])
BITS = draw.integers(0, 2, N)
YES = np.where(BITS == 1, "yes", "no")
DIGITS = draw.integers(0, 10, N)
HARD = draw.normal(size=N)
COUNTS = draw.poisson(1.2, N).clip(0, 5)
ID = {"id": np.arange(N)}


def two(truth):
    return {"gpt": noisy(truth, 0.9, 1), "claude": noisy(truth, 0.8, 2)}


def correlated(names):
    """Yes or no, all depending on one thing, as the answers of a survey do."""
    return {
        name: np.where(HARD + 0.8 * np.random.default_rng(k).normal(size=N) > 0, "yes", "no")
        for k, name in enumerate(names)
    }


def days(shift):
    return [f"2024-01-{1 + (i + (shift and i % shift == 0)) % 28:02d}" for i in range(N)]


# name: columns, then what item, truth and votes have to be
READ = {
    "the truth last, the item in the middle": (
        {
            "gpt": noisy(WORDS, 0.9, 1),
            "uid": np.arange(N),
            "claude": noisy(WORDS, 0.8, 2),
            "ground truth": WORDS,
        },
        ("uid", "ground truth", ("gpt", "claude")),
    ),
    "capitals and blanks": (
        {
            "ID": np.arange(N),
            "Ground Truth": WORDS,
            "Model A": noisy(WORDS, 0.9, 1),
            "Model B": noisy(WORDS, 0.8, 2),
        },
        ("ID", "Ground Truth", ("Model A", "Model B")),
    ),
    "a short name for the truth": (
        {**ID, "GT": WORDS, **two(WORDS)},
        ("id", "GT", ("gpt", "claude")),
    ),
    "whole numbers as labels": (
        {**ID, "truth": DIGITS, **two(DIGITS)},
        ("id", "truth", ("gpt", "claude")),
    ),
    "numbers written as text": (
        {"truth": DIGITS.astype(str), **{k: v.astype(str) for k, v in two(DIGITS).items()}},
        (None, "truth", ("gpt", "claude")),
    ),
    "labels 0.0 and 1.0": (
        {"truth": BITS.astype(float), **{k: v.astype(float) for k, v in two(BITS).items()}},
        (None, "truth", ("gpt", "claude")),
    ),
    "an identifier with the values of labels": (
        {**ID, "annotator_id": draw.integers(1, 3, N), "truth": BITS + 1, **two(BITS + 1)},
        ("id", "truth", ("gpt", "claude")),
    ),
    "a constant fact that is one of the labels": (
        {**ID, "source": np.full(N, "ham"), "truth": WORDS, **two(WORDS)},
        ("id", "truth", ("gpt", "claude")),
    ),
    "days beside labels": (
        {"date": days(0), "truth": WORDS, **two(WORDS)},
        (None, "truth", ("gpt", "claude")),
    ),
    "years beside labels": (
        {"year": draw.choice([2020, 2021], N), "truth": WORDS, **two(WORDS)},
        (None, "truth", ("gpt", "claude")),
    ),
    "days as labels": (
        {"truth": days(0), "gpt": days(5), "claude": days(4)},
        (None, "truth", ("gpt", "claude")),
    ),
    "a probability beside each prediction": (
        {
            **ID,
            "label": BITS,
            "pred_a": noisy(BITS, 0.9, 1),
            "prob_a": draw.random(N),
            "pred_b": noisy(BITS, 0.8, 2),
            "prob_b": draw.random(N),
        },
        ("id", "label", ("pred_a", "pred_b")),
    ),
    "three annotators called labels": (
        {**ID, **{f"label_{k}": noisy(WORDS, 0.85, k) for k in range(3)}},
        ("id", None, ("label_0", "label_1", "label_2")),
    ),
}

# name: columns, then the option that is asked for
ASKED = {
    "outputs beside an expected one": (
        {
            **ID,
            "expected_output": WORDS,
            "gpt_output": noisy(WORDS, 0.9, 1),
            "claude_output": noisy(WORDS, 0.8, 2),
        },
        "--truth",
    ),
    "an unknown name among models": ({**ID, "key_phrase": WORDS, **two(WORDS)}, "--truth"),
    "a session that goes with the truth": (
        {"session": noisy(BITS, 0.7, 9), "truth": BITS, **two(BITS)},
        "--judges",
    ),
    "a fact that goes with the truth": (
        {"truth": BITS, **two(BITS), "has_link": noisy(BITS, 0.7, 3)},
        "--judges",
    ),
    "a batch of 0 and 1": (
        {"batch": draw.integers(0, 2, N), **{f"judge_{k}": noisy(BITS, 0.85, k) for k in range(3)}},
        "--judges",
    ),
    "a constant model": (
        {**ID, "truth": WORDS, **two(WORDS), "always": np.full(N, "ham")},
        "--judges",
    ),
    "medals": (
        {"country": [f"c{i}" for i in range(N)], "gold": COUNTS, "silver": noisy(COUNTS, 0.5, 1)},
        "--judges",
    ),
    "a survey": (correlated([f"q{k}" for k in range(1, 6)]), "--judges"),
    "symptoms and a diagnosis": (
        {**correlated(["fever", "cough"]), "true": np.where(HARD > 0, "yes", "no")},
        "--judges",
    ),
    "people and an outcome": (
        {
            "truth": BITS,
            "sex": noisy(BITS, 0.62, 1),
            "smoker": noisy(BITS, 0.68, 2),
            "treated": noisy(BITS, 0.66, 3),
        },
        "--judges",
    ),
    "a treatment": (
        {"truth": YES, "before": noisy(YES, 0.8, 1), "after": noisy(YES, 0.8, 2)},
        "--judges",
    ),
    "a copy of the truth": (
        {**ID, "winner": noisy(WORDS, 0.99, 5), "truth": WORDS, **two(WORDS)},
        "--judges",
    ),
    "one column a class": (
        {**ID, **{f"class_{k}": np.where(k == DIGITS % 3, 1, 0) for k in range(3)}},
        "--models or --judges",
    ),
}


def read(columns):
    return seen({name: pa.array(list(values)) for name, values in columns.items()})


@pytest.mark.parametrize("name", READ)
def test_it_is_read_right(name):
    columns, (item, truth, votes) = READ[name]
    reading = read(columns)
    assert reading.questions == ()
    assert (reading.item, reading.truth, reading.votes) == (item, truth, votes)


@pytest.mark.parametrize("name", READ)
def test_the_order_of_the_columns_does_not_matter(name):
    columns, (item, truth, votes) = READ[name]
    reading = read(dict(reversed(columns.items())))
    assert reading.questions == ()
    assert (reading.item, reading.truth, set(reading.votes)) == (item, truth, set(votes))


@pytest.mark.parametrize("name", ASKED)
def test_it_is_asked_by_the_name_of_an_option(name):
    columns, option = ASKED[name]
    for order in (columns, dict(reversed(columns.items()))):
        reading = read(order)
        assert [question.option for question in reading.questions] == [option]
        assert reading.votes == ()


def test_a_hard_prediction_wins_over_a_score_beside_it():
    rules = {f"lf_{k}": noisy(BITS, 0.9 - 0.1 * k, k) for k in range(3)}
    reading = read({**ID, **rules, "prediction": noisy(BITS, 0.9, 4), "score": draw.random(N)})
    assert (reading.prediction, reading.score, reading.weak) == ("prediction", None, tuple(rules))


def test_names_that_only_speak_of_time_by_accident_are_no_versions():
    reading = read(
        {"truth": WORDS, "old_town": noisy(WORDS, 0.8, 1), "new_york": noisy(WORDS, 0.8, 2)}
    )
    assert (reading.old, reading.new) == (None, None)
