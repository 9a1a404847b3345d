import csv
import json
import random

import pytest


@pytest.fixture
def data(tmp_path):
    """400 items of three labels; the new API takes some fours for fives."""
    rng = random.Random(5)
    with (tmp_path / "data.csv").open("w", newline="", encoding="utf-8") as stream:
        out = csv.writer(stream)
        out.writerow(["id", "true", "old", "new", "confidence"])
        for number in range(400):
            true = rng.choice(("four", "five", "six"))
            old = true if rng.random() < 0.9 else "unsure"
            new = "five" if true == "four" and rng.random() < 0.3 else old
            out.writerow([f"i{number}", true, old, new, round(rng.random(), 3)])
    return tmp_path


BASE = ("shift", "--data", "data.csv", "--truth", "true", "--item", "id")
KNOWN = (*BASE, "--deterministic")
RUN = (*KNOWN, "--old", "old", "--api", "replay:new", "--budget", "150")


def test_the_same_seed_gives_the_same_bytes_and_a_journal_resumes(tallystick, data):
    first = tallystick(*RUN, "--journal", "j", "--json", "--items-out", "items.csv")
    again = tallystick(*RUN, "--journal", "j", "--json")
    one, two = json.loads(first.stdout), json.loads(again.stdout)
    assert two.pop("requests")["from_journal"] == 150
    one.pop("requests")
    one.pop("notes"), two.pop("notes")
    assert one == two
    with (data / "items.csv").open(encoding="utf-8") as stream:
        assert len(list(csv.DictReader(stream))) == 150
    other = tallystick(*RUN, "--journal", "j", "--seed", "1", "--json")  # it was refused before
    assert json.loads(other.stdout)["requests"]["from_journal"] > 0
    refused = tallystick(*RUN[:-3], "replay:old", *RUN[-2:], "--journal", "j")
    assert refused.returncode == 1
    assert "another run" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--old", "old", "--api", "replay:newer"), "replay:newer"),
        (("--old", "old", "--api", "ftp://x"), "api (--api) must look like"),
        (("--old", "olt", "--api", "replay:new"), "olt"),
        (("--old", "old", "--api", "http://127.0.0.1:9"), "request template"),
        (("--old", "old", "--api", "http://127.0.0.1:9", "--request", '{"t": "{nix}"}'), "{nix}"),
        (("--old", "old", "--api", "openai:m@http://127.0.0.1:9"), "prompt"),
        (("--old", "confidence", "--api", "replay:new"), "no label is shared"),
        (("--old", "old", "--api", "python:nowhere:f"), "cannot be loaded"),
        (("--old", "old", "--api", "replay:new", "--strategy", "masa", "--budget", "5"), "strata"),
    ],
)
def test_bad_input_is_refused_in_words(tallystick, data, arguments, words):
    done = tallystick(*KNOWN, "--budget", "60", *arguments)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_next_assessment_starts_from_the_last_and_history_is_kept(tallystick, data):
    assert tallystick(*RUN, "--journal", "j", "--history", "h").returncode == 0
    command = (*RUN[:-1], "400", "--since", "j", "--history", "h", "--json")
    done = tallystick(*command)
    assert done.returncode == 0, done.stderr
    assert "2 assessments" in done.stderr
    whole = tallystick(*RUN[:-1], "400", "--json")
    assert (
        json.loads(done.stdout)["flip_rate"]["estimate"]
        < json.loads(whole.stdout)["flip_rate"]["estimate"]
    )


def test_slices_share_the_calls_of_the_run_and_are_corrected(tallystick, data):
    body = json.loads(tallystick(*RUN, "--by", "true", "--json").stdout)
    slices = {part["slice"]: part for part in body["slices"]}
    assert list(slices) == ["five", "four", "six"]
    assert sum(part["calls"] for part in slices.values()) == 150
    assert slices["four"]["accuracy_change"]["estimate"] < 0
    assert slices["six"]["accuracy_change"]["estimate"] == 0
    text = tallystick(*RUN, "--by", "true").stdout
    assert "By slice:" in text
    assert "four: The API changed" in text


def test_a_slice_that_cannot_be_made_is_refused_before_anything_is_asked(tallystick, data):
    done = tallystick(*RUN, "--by", "country", "--journal", "j")
    assert done.returncode == 1
    assert "data.csv has no column 'country' (columns: 'id', 'true', 'old'" in done.stderr
    # the column of items has a role already, and a table may be sliced by it all the same
    assert (
        "400 different values, and at most 200 slices"
        in tallystick(*RUN, "--by", "id", "--journal", "j").stderr
    )
    assert not (data / "j").exists()


def spelled(path, truth, old, new):
    lines = [f"{n},{truth[n % 2]},{old[n % 2]},{new[n % 2]}" for n in range(60)]
    (path / "spelled.csv").write_text("\n".join(["id,true,old,new", *lines]) + "\n")
    return "shift --data spelled.csv --truth true --item id --old old --budget 40".split()


def test_a_label_in_two_spellings_is_refused_and_read_as_one_when_coerced(tallystick, tmp_path):
    command = spelled(tmp_path, ("1", "2"), ("01", "02"), ("1", "2"))
    refused = tallystick(*command, "--api", "replay:new", "--json")
    assert refused.returncode != 0
    assert "--coerce" in refused.stderr
    body = json.loads(tallystick(*command, "--api", "replay:new", "--json", "--coerce").stdout)
    assert len(body["labels"]) == 2
    assert (body["accuracy_change"]["estimate"], body["flip_rate"]["estimate"]) == (0, 0)


@pytest.mark.parametrize(
    ("old", "new"), [(("1", "2"), ("01", "2.0")), (("1", "2"), ("1.0", "2.0"))]
)
def test_an_api_that_spells_a_number_in_another_way_is_read(tallystick, tmp_path, old, new):
    command = spelled(tmp_path, ("1", "2"), old, new)
    body = json.loads(tallystick(*command, "--api", "replay:new", "--json").stdout)
    assert (body["accuracy_change"]["estimate"], body["flip_rate"]["estimate"]) == (0, 0)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--gate", "accuracy >= -.02"), "a gate of shift compares one of"),
        (("--gate", "recall_change:Four >= -.02"), "'Four'"),
        (("--alpha", "1.5"), "alpha must be in (0, 1)"),
        (("--alpha", "nan"), "alpha must be in (0, 1)"),
        (("--items-out", "none/items.csv"), "none/items.csv"),
        (("--items-out", "items.doc"), "items.doc"),
        (("--html", "none/page.html"), "none/page.html"),
        (("--history", "."), "no regular file"),
        (("--history", "data.csv"), "is the input"),
    ],
)
def test_what_can_be_known_to_be_wrong_is_refused_before_a_call_is_paid_for(
    tallystick, data, options, told
):
    done = tallystick(*RUN, "--journal", "j", *options)
    assert done.returncode not in (0, 10, 11)
    assert told in done.stderr
    assert not (data / "j").exists()


def test_cells_that_are_not_a_number_make_one_blank_slice(tallystick, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    truth = ["a", "b"] * 30
    part = [[0.5, float("nan"), None][n % 3] for n in range(60)]
    columns = {
        "id": list(range(60)),
        "true": truth,
        "old": truth,
        "new": truth,
        "part": pa.array(part, pa.float64()),
    }
    pq.write_table(pa.table(columns), tmp_path / "parts.parquet")
    command = "shift --data parts.parquet --truth true --old old --item id".split()
    done = tallystick(*command, "--api", "replay:new", "--budget", "50", "--by", "part", "--json")
    assert done.returncode == 0, done.stderr
    assert [one["slice"] for one in json.loads(done.stdout)["slices"]] == [0.5, None]


def test_the_input_is_a_plain_argument_or_the_option_data(tallystick):
    missing = tallystick("shift", *RUN[3:])
    assert missing.returncode == 2
    assert "--data" in missing.stderr


def test_a_journal_of_a_baseline_is_taken_as_the_old_answers(tallystick, data):
    """Its answers are read anew: it keeps no labels of its own."""
    first = ("shift", "baseline", "data.csv", "--truth", "true", "--item", "id", "--as", "spring")
    kept = ("--journal", "spring.journal", "-o", "out.csv")
    assert tallystick(*first, "--api", "replay:new", *kept).returncode == 0
    done = tallystick(*RUN, "--since", "spring.journal", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["flip_rate"]["estimate"] == 0


def test_old_columns_of_two_versions_are_no_repeats(tallystick, data):
    done = tallystick(*RUN, "--old-draws", "new")
    assert done.returncode == 1
    assert "new is not a repeat of old" in done.stderr
    twice = tallystick(*RUN, "--old", "new")
    assert "takes one value" in twice.stderr
