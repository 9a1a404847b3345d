import json

import pytest
from click.testing import CliRunner

from tallystick.cli.app import app
from tallystick.table import write_csv
from tests.generated import generate


def run(*arguments):
    done = CliRunner().invoke(app, ["audit", *map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), done.stderr


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    table = generate("compare", rng=1)
    write_csv(path, {**table, "week": [f"w{i % 2}" for i in range(len(table["item"]))]})
    return path


def test_the_audit_says_what_it_took_for_what_and_answers_in_one_object(answers, tmp_path):
    out, _ = run(answers, "--html", tmp_path / "report.html", "--items-out", tmp_path / "items.csv")
    assert out["reading"]["truth"] == "truth"
    assert out["verb"] == "audit"
    assert [part["verb"] for part in out["sections"]] == ["compare", "judge"]
    assert set(out["columns"][0]) == {"columns", "role", "why"}
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(page) < 2_000_000
    assert page.count("<script") == 1, "ours and no other"
    assert page.count("<figure>") >= 2
    assert len((tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()) == 1201


def test_a_question_leaves_with_one_and_the_name_of_the_option(tallystick, tmp_path):
    (tmp_path / "marks.csv").write_text(
        "id,gpt,claude\n" + "".join(f"{i},{i % 2},1\n" for i in range(40))
    )
    done = tallystick("audit", "marks.csv", "--json")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "--models or --judges" in done.stderr
    out, _ = run(tmp_path / "marks.csv", "--models", "*")
    assert [part["verb"] for part in out["sections"]] == ["compare"]


def test_an_audit_by_slice_answers_for_each(answers):
    out, _ = run(answers, "--by", "week")
    assert [part["slice"] for part in out["slices"]] == ["w0", "w1"]
    assert all(part["sections"] for part in out["slices"])


def test_an_empty_missing_says_that_every_word_is_an_answer(tmp_path):
    rows = "".join(f"{t},{t if i % 5 else 'NA'},{t}\n" for i, t in enumerate(["x", "y"] * 40))
    (tmp_path / "v.csv").write_text("gold,gpt,claude\n" + rows)
    assert CliRunner().invoke(app, ["audit", str(tmp_path / "v.csv")]).exit_code == 1
    out, _ = run(tmp_path / "v.csv", "--missing", "")
    assert out["n_items"] == 80
