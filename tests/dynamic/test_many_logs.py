"""Random logs of known meaning: read right at once, or asked about; never read wrong in silence."""

import random
from collections import Counter

import numpy as np

from tallystick.errors import AskError
from tallystick.verbs import dynamic

ITEMS = ["id", "item", "question_id", "uid", "prompt", "Example ID", "sample", "Unnamed: 0", "name"]
PAIRS = [(1, 0), ("right", "wrong"), ("pass", "fail"), (True, False), ("✓", "✗"), ("Y", "N")]
CLASSES = [list("ABCD"), ["pos", "neg"], [0, 1], ["entailment", "neutral", "contradiction"]]
TRUTHS = ["gold", "label", "truth", "answer", "target", "gold_label", "my_gold"]


def metadata(rng, n):
    """Columns that say nothing of the models."""
    return {
        "topic": rng.choice(["math", "law"], n),
        "n_tokens": rng.integers(5, 900, n),
        "cached": rng.integers(0, 2, n),
        "date": [f"2024-01-{1 + k % 28:02d}" for k in range(n)],
        "source": rng.choice(["a", "b"], n),
        "split": ["test"] * n,
        "flagged": rng.choice(["yes", "no"], n),
    }


def drawn(rng, pick):
    """Return a table, the models that it has, and the share that each gets right."""
    n, models = int(rng.choice([30, 120, 300])), int(rng.choice([2, 3, 4]))
    hard = rng.standard_normal(n)
    right = [0.8 * hard + 0.6 * rng.standard_normal(n) < 0.6 + 0.15 * t for t in range(models)]
    names = pick.choice([
        [f"r{t + 1}" for t in range(models)],
        ["gpt4", "claude", "llama", "mistral"][:models],
        [f"model_{one}" for one in "abcd"[:models]],
    ])  # fmt: skip
    form = pick.choice(["marks", "answers", "long", "wrong"])
    more = {
        name: list(metadata(rng, n)[name])
        for name in pick.sample(list(metadata(rng, 1)), pick.choice([0, 0, 1, 2]))
    }
    good, bad = pick.choice(PAIRS)
    table = {pick.choice(ITEMS): [f"q{k}" for k in range(n)]}
    if form == "marks":
        table |= {
            a: [good if one else bad for one in row] for a, row in zip(names, right, strict=True)
        }
    elif form == "answers":
        words = pick.choice(CLASSES)
        true = rng.integers(0, len(words), n)
        off = (true + 1 + rng.integers(0, len(words) - 1, n)) % len(words)
        table[pick.choice(TRUTHS)] = [words[k] for k in true]
        for name, row in zip(names, right, strict=True):
            table[name] = [words[k] for k in np.where(row, true, off)]
    else:
        table = {name: cells * models for name, cells in table.items()}
        table[pick.choice(["round", "Round", "iteration"])] = [
            t + 1 for t in range(models) for _ in range(n)
        ]
        column = pick.choice(
            ["correct", "is_correct"] if form == "long" else ["wrong", "error", "is_wrong"]
        )
        good, bad = pick.choice([(1, 0), ("yes", "no"), (True, False)])
        good, bad = (good, bad) if form == "long" else (bad, good)
        table[column] = [good if one else bad for row in right for one in row]
        more = {name: cells * models for name, cells in more.items()}
    order = [*table, *more]
    pick.shuffle(order)
    listed = [name for name in order if name in names]
    last = names.index(listed[-1]) if listed and not names[0].startswith("r") else models - 1
    return {name: (table | more)[name] for name in order}, models, float(right[last].mean())


def test_random_logs_are_read_right_or_asked_about():
    rng, pick, seen = np.random.default_rng(2026), random.Random(2026), Counter()
    for _ in range(60):
        table, models, accuracy = drawn(rng, pick)
        try:
            found = dynamic.evaluate(table)
        except AskError:
            seen["asked"] += 1
            continue
        assert len(found.models) == models, (list(table), found.models)
        assert abs(found.rounds[-1].accuracy - accuracy) < 1e-9, (list(table), found.verdict)
        seen["right"] += 1
    assert seen["right"] >= 50, seen
