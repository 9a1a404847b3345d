import csv
import json


def test_patterns_that_are_not_shown_are_counted(tallystick):
    table = "a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(31))
    assert (
        "The 20 commonest of 31 patterns are shown" in tallystick("tally", "-", stdin=table).stdout
    )
    assert "commonest of" not in tallystick("tally", "-", stdin="a,b\n1,0\n").stdout


def test_tokens_that_mean_no_answer_are_missing(tallystick):
    done = tallystick("tally", "-", "--missing", "-1,NA", "--json", stdin="a,b\n-1,0\nNA,1\n1,0\n")
    assert json.loads(done.stdout)["columns"] == {"a": ["1", None], "b": ["0", "1"]}


def test_two_spellings_of_one_label_are_refused_unless_coerced(tallystick):
    table = "a,b\n1,1.0\n0,0.0\n"
    done = tallystick("tally", "-", stdin=table)
    assert done.returncode == 1
    assert "--coerce" in done.stderr
    for part in ("'0'", "'0.0'", "'a'", "'b'"):
        assert part in done.stderr
    assert tallystick("tally", "-", "--coerce", "--json", stdin=table).returncode == 0


def test_items_come_back_with_their_pattern_and_formulas_are_escaped(tallystick, tmp_path):
    done = tallystick(
        *"tally - --item id --items-out items.csv".split(), stdin="id,a\n=1+1,x\nb,x\nc,y\n"
    )
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "items.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0]["id"] == "'=1+1"
    assert [row["pattern_count"] for row in rows] == ["2", "2", "1"]


def test_a_weight_is_one_more_column_and_equal_weights_are_none(tallystick):
    out = json.loads(
        tallystick("tally", "-", "--weight", "w", "--json", stdin="a,w\nx,0.5\ny,2\n").stdout
    )
    assert (out["n_items"], list(out["columns"]), out["weighted"]) == (2, ["a", "w"], False)
    out = json.loads(
        tallystick("tally", "-", "--weight", "w", "--json", stdin="a,w\nx,2\ny,2\n").stdout
    )
    assert (out["n_items"], list(out["columns"])) == (2, ["a"])


def test_a_file_that_is_no_tally_is_refused_by_merge(tallystick, votes):
    done = tallystick("merge", votes, "-o", "x.tally")
    assert done.returncode == 1
    assert "votes.csv" in done.stderr
