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
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(page) < 2_000_000
    assert page.count("<script") == 1, "ours and no other"
    assert page.count("<figure>") >= 2
    assert len((tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()) == 1201


def test_a_question_leaves_with_two_and_the_name_of_the_option(tallystick, tmp_path):
    (tmp_path / "marks.csv").write_text(
        "id,gpt,claude,cached\n"
        + "".join(f"{i},{i % 2},{i % 2 if i % 9 else 1},{i // 7 % 2}\n" for i in range(200))
    )
    done = tallystick("audit", "marks.csv", "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--models gpt,claude" in done.stderr
    out, _ = run(tmp_path / "marks.csv", "--models", "gpt,claude")
    assert out["sections"][0]["verb"] == "compare"
    assert out["reading"]["models"] == ["gpt", "claude"]


def test_a_glob_of_all_columns_leaves_the_items_alone(tmp_path):
    (tmp_path / "marks.csv").write_text(
        "id,gpt,claude\n" + "".join(f"{i},{i % 2},1\n" for i in range(40))
    )
    out, _ = run(tmp_path / "marks.csv", "--models", "*")
    assert out["sections"][0]["verb"] == "compare"
    assert out["reading"]["item"] == "id"


def test_an_audit_by_slice_answers_for_each(answers):
    out, _ = run(answers, "--by", "week")
    for part in out["sections"]:
        assert [one["slice"] for one in part["slices"]] == ["w0", "w1"], part["verb"]
