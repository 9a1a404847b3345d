"""``tallystick demo dynamic``: the command a visitor tries first."""

import json

from click.testing import CliRunner

from tallystick.cli.app import app
from tallystick.verbs.dynamic.question import demo


def test_the_demo_reads_three_rounds_gives_advice_and_names_a_command_that_says_the_same(tmp_path):
    done = CliRunner().invoke(
        app, ["demo", "dynamic", "--json", "--seed", "1", "--to", str(tmp_path)]
    )
    assert done.exit_code == 0, done.output
    out = json.loads(done.stdout)
    assert (out["verb"], out["action"]) == ("dynamic", "analyse")
    assert [row["round"] for row in out["rounds"]] == [1, 2, 3]
    assert out["advice"]["decision"] in ("cannot tell", "worth it", "not worth it")
    assert all(row["all_wrong"] > row["independent"] for row in out["rounds"])
    page = (tmp_path / "dynamic.html").read_text(encoding="utf-8")
    assert "<html" in page
    assert page.count("<script") == 1, "ours and no other"
    assert f"tallystick dynamic analyse {tmp_path / 'dynamic.csv'} --truth gold" in done.stderr
    assert demo(1).options == {"truth": "gold"}
    again = CliRunner().invoke(
        app,
        [
            "dynamic",
            "analyse",
            str(tmp_path / "dynamic.csv"),
            "--truth",
            "gold",
            "--json",
        ],
    )
    assert again.exit_code == 0, again.output
    shown = json.loads(again.stdout)
    assert shown["rounds"] == out["rounds"]
