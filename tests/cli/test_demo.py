import json

import pytest
from click.testing import CliRunner

from tallystick.cli.app import app


def test_the_demo_writes_a_report_says_where_and_repeats(tmp_path):
    runs = []
    for _ in range(2):
        done = CliRunner().invoke(
            app, ["demo", "compare", "--json", "--seed", "1", "--out", str(tmp_path)]
        )
        assert done.exit_code == 0, done.output
        assert f"report: {tmp_path / 'compare.html'}" in done.stderr
        assert f"tallystick compare {tmp_path / 'compare.csv'} --truth truth" in done.stderr
        runs.append((done.stdout, (tmp_path / "compare.html").read_bytes()))
    assert json.loads(runs[0][0])["verb"] == "compare"
    assert runs[0] == runs[1]


@pytest.mark.parametrize("verb", ["audit", "judge", "bound", "shift", "dynamic"])
def test_every_verb_has_a_demo(verb, tmp_path):
    done = CliRunner().invoke(app, ["demo", verb, "--json", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    out = json.loads(done.stdout)
    assert out["verb"] == verb
    if verb == "audit":
        assert [part["verb"] for part in out["sections"]] == [
            "compare",
            "judge",
            "shift",
            "dynamic",
        ]
    assert (tmp_path / f"{verb}.html").stat().st_size < 2_000_000


def test_the_report_is_opened_if_asked_for(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    done = CliRunner().invoke(app, ["demo", "compare", "--open", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert opened == [(tmp_path / "compare.html").as_uri()]


def test_without_a_folder_the_report_goes_to_a_new_one(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = CliRunner().invoke(app, ["demo", "compare", "--json"])
    assert done.exit_code == 0, done.output
    assert len(list(tmp_path.glob("tallystick-demo-*/compare.html"))) == 1


def test_an_unknown_verb_is_refused_by_name():
    assert CliRunner().invoke(app, ["demo", "everything"]).exit_code == 1
