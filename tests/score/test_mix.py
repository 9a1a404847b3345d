"""The traffic of production instead of the mix of the table."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.verbs.score import ScoreResult, evaluate
from tests.score.tables import ROLES


def table(seed=0, graded=80):
    """Return easy and hard items, half and half; systems pass 90% and 40% of them."""
    rng = np.random.default_rng(seed)
    held = {name: [] for name in ("item", "system", "topic", "x", "y", "z", "human")}
    for item in range(400):
        topic = "easy" if item % 2 else "hard"
        for system in ("a", "b"):
            rate = {"easy": 0.9, "hard": 0.4}[topic] + (0.05 if system == "b" else 0)
            good = rng.random() < rate
            held["item"].append(item)
            held["system"].append(system)
            held["topic"].append(topic)
            for judge in "xyz":
                held[judge].append(int(rng.random() < (0.9 if good else 0.2)))
            held["human"].append(int(good) if item < graded else None)
    return held


def test_the_answer_moves_to_the_target_mix():
    plain = evaluate(table(), **ROLES)
    mixed = evaluate(table(), by="topic", target_mix={"easy": 0.9, "hard": 0.1}, **ROLES)
    for row in plain.systems:
        other = mixed.system(row.name)
        assert other.score > row.score + 0.1
        assert 0.8 < other.score < 1
        assert other.judge_only > row.judge_only
        assert other.score in other.interval
    assert len(mixed.pairs) == 1


def test_a_slice_without_grades_leaves_the_mix_unknown():
    held = table()
    held["human"] = [
        value if topic == "easy" else None
        for value, topic in zip(held["human"], held["topic"], strict=True)
    ]
    result = evaluate(held, by="topic", target_mix={"easy": 0.5, "hard": 0.5}, **ROLES)
    assert all(isinstance(row.score, Unknown) for row in result.systems)


@pytest.mark.parametrize(
    ("mix", "message"),
    [({"easy": 1.0}, "see 'hard'"), ({"easy": 1, "hard": 1, "odd": 1}, "see 'odd'")],
)
def test_a_mix_must_fit_the_table(mix, message):
    with pytest.raises(InputError, match=message):
        evaluate(table(), by="topic", target_mix=mix, **ROLES)


def test_a_mix_needs_a_column_of_slices():
    with pytest.raises(InputError, match="--by"):
        evaluate(table(), target_mix={"easy": 1}, **ROLES)


@pytest.mark.slow
def test_coverage_of_the_mixed_score():
    inside = 0
    for seed in range(20):
        full = table(seed, graded=400)
        rng = np.random.default_rng(seed)
        chosen = set(rng.choice(400, 60, replace=False).tolist())
        human = [
            v if i in chosen else None for v, i in zip(full["human"], full["item"], strict=True)
        ]
        mixed = evaluate(
            {**full, "human": human}, by="topic", target_mix={"easy": 0.8, "hard": 0.2}, **ROLES
        )
        truth, topic, system = (np.array(full[name]) for name in ("human", "topic", "system"))
        for name in "ab":
            own = sum(
                share * truth[(system == name) & (topic == label)].mean()
                for label, share in (("easy", 0.8), ("hard", 0.2))
            )
            inside += own in mixed.system(name).interval
    assert inside >= 34  # of 40


def test_slices_of_a_target_mix_are_answered_as_they_are():
    rng = np.random.default_rng(4)
    n = 300
    lang = np.where(rng.random(n) < 0.8, "en", "de")
    good = rng.random(n) < np.where(lang == "en", 0.9, 0.5)
    table = {
        "id": list(range(n)),
        "lang": lang.tolist(),
        "gpt": np.where(rng.random(n) < 0.9, good, ~good).astype(int).tolist(),
        "human": [int(one) if k % 2 else None for k, one in enumerate(good)],
    }
    result = evaluate(table, by="lang", target_mix={"en": 0.5, "de": 0.5})
    assert [part.label for part in result.slices] == ["de", "en"]
    assert all(isinstance(part.answer, ScoreResult) for part in result.slices)
    assert "those of the target mix" in result.basis
