"""A truth that is written where it is not known: every verb asks, and the answer it names is
obeyed."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

from tallystick.cli.app import app


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def write(path, word, known=60, n=400):
    """Three models that are right in 4 of 5 items, the truth known on some and *word* elsewhere."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 2, n)
    models = np.where(rng.random((n, 3)) < 0.8, gold[:, None], 1 - gold[:, None])
    lines = [
        ",".join([str(g) if i < known else word, *map(str, row)])
        for i, (g, row) in enumerate(zip(gold, models.tolist(), strict=True))
    ]
    path.write_text("gold,gpt,claude,llama\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def answer(done):
    """The answer without the notes of reading, which say how the file was written."""
    body = json.loads(done.stdout)
    parts = [body, *body.get("sections", [])]
    for part in parts:
        for name in ("notes", "columns", "assumptions", "reading"):
            part.pop(name, None)
    return body


@pytest.mark.parametrize("word", ["-1", "unknown"])
@pytest.mark.parametrize("verb", ["compare", "judge", "audit"])
def test_a_truth_that_may_be_a_blank_or_a_label_is_asked_about(tmp_path, verb, word):
    table = write(tmp_path / "votes.csv", word)
    done = run(verb, table, "--truth", "gold", "--json")
    assert done.exit_code != 0
    told = str(done.exception)
    assert f"--missing={word}" in told
    assert "gold" in told
    answered = run(verb, table, "--truth", "gold", f"--missing={word}", "--json")
    blank = run(verb, write(tmp_path / "votes.csv", ""), "--truth", "gold", "--json")
    assert answered.exit_code == blank.exit_code == 0
    assert answer(answered) == answer(blank)


@pytest.mark.parametrize("verb", ["compare", "judge"])
def test_labels_that_nobody_shares_with_the_truth_are_refused(tmp_path, verb):
    (tmp_path / "votes.csv").write_text(
        "gold,a,b\n" + "positive,pos,pos\nnegative,neg,pos\n" * 20, encoding="utf-8"
    )
    done = run(verb, tmp_path / "votes.csv", "--truth", "gold")
    assert done.exit_code != 0
    assert "no column uses the labels of gold" in str(done.exception)
    asked = ("--models", "a,b") if verb == "compare" else ("--judges", "a,b")
    done = run(verb, tmp_path / "votes.csv", "--truth", "gold", *asked)
    assert "no label is shared" in str(done.exception)
    assert "the truth 'gold' says 'negative', 'positive'" in str(done.exception)


@pytest.mark.parametrize(("word", "options"), [("NA", ["--missing=NA"]), (" ", [])])
def test_items_without_a_truth_are_put_in_order_for_labelling_however_that_is_written(
    tmp_path, word, options
):
    table = write(tmp_path / "votes.csv", word)
    done = run("judge", table, "--truth", "gold", *options, "--items-out", tmp_path / "items.csv")
    assert done.exit_code == 0, done.output
    with (tmp_path / "items.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert sorted(int(row["label_next"]) for row in rows if row["label_next"]) == list(
        range(1, 341)
    )
    assert not any(row["label_next"] for row in rows[:60])
