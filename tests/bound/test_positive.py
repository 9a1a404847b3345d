"""The positive class is the one that names and words say, and is asked about otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import bound
from tallystick.errors import InputError
from tallystick.verbs.bound.question import positive_class


@pytest.mark.parametrize(
    ("classes", "score", "positive"),
    [
        (["fraud", "legit"], "p_fraud", "fraud"),
        (["fraud", "legit"], "legit_probability", "legit"),
        (["ham", "spam"], "score", "spam"),
        (["negative", "positive"], None, "positive"),
        (["no", "yes"], "p", "yes"),
        ([0, 1], "p_1", 1),
        (["0", "1"], None, "1"),
        ([False, True], None, True),
        (["cat", "dog"], "score", None),
        (["a", "b", "c"], "p_a", None),
    ],
)
def test_names_and_words_say_which_class_is_positive(classes, score, positive) -> None:
    assert positive_class(classes, score) == positive


def table(classes: tuple[str, str]) -> dict[str, list]:
    """Return a score that is high for the first class, with weak labels and random labels."""
    rng = np.random.default_rng(4)
    truth = rng.random(600) < 0.4
    words = {True: classes[0], False: classes[1]}
    weak = {
        f"lf_{k}": [words[bool(y) if rng.random() < 0.8 else not y] for y in truth]
        for k in range(3)
    }
    gold = [words[bool(y)] if rng.random() < 0.15 else None for y in truth]
    score = np.clip(np.where(truth, 0.8, 0.2) + rng.normal(0, 0.1, 600), 0, 1)
    return {f"p_{classes[0]}": score.tolist(), **weak, "gold": gold}


def test_a_score_is_high_for_the_class_that_it_names() -> None:
    rows = table(("fraud", "legit"))
    result = bound(
        rows, score="p_fraud", weak=("lf_0", "lf_1", "lf_2"), truth="gold", thresholds=(0.5,)
    )
    assert result.gold[0].estimate > 0.9


def test_a_score_that_may_mean_either_class_is_asked_about() -> None:
    rows = table(("cat", "dog"))
    rows["score"] = rows.pop("p_cat")
    roles = {"score": "score", "weak": ("lf_0", "lf_1", "lf_2"), "truth": "gold"}
    with pytest.raises(InputError, match="--positive dog or --positive cat"):
        bound(rows, **roles, thresholds=(0.5,))
    named = bound(rows, **roles, thresholds=(0.5,), positive="cat")
    assert named.gold[0].estimate > 0.9
