"""Merging never counts a row twice without saying so."""

import json

import numpy as np
import pytest

from tallystick.table import Tally


def counted(in_process, source, target, **options):
    done = in_process("tally", source, "-o", target, **options)
    assert done.returncode == 0, done.stderr


def test_a_tally_merged_with_itself_is_refused_by_name(in_process, votes, tmp_path):
    counted(in_process, votes, "t.tally")
    done = in_process("merge", "t.tally", "t.tally", "-o", "both.tally")
    assert done.returncode == 1
    assert "t.tally and t.tally both count votes.csv" in done.stderr
    assert not (tmp_path / "both.tally").exists()


def test_a_sum_is_not_merged_with_one_of_its_parts(in_process, votes, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text("item,ann,bob\n9,ham,ham\n", encoding="utf-8")
    counted(in_process, votes, "a.tally")
    counted(in_process, other, "b.tally")
    done = in_process("merge", "a.tally", "b.tally", "-o", "sum.tally", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["warnings"] == []
    done = in_process("merge", "sum.tally", "b.tally", "-o", "more.tally")
    assert done.returncode == 1
    assert "sum.tally and b.tally both count other.csv" in done.stderr


def test_a_stream_is_known_by_its_content(in_process, votes):
    counted(in_process, votes, "a.tally")
    counted(in_process, "-", "b.tally", stdin=votes.read_text(encoding="utf-8"))
    assert in_process("merge", "a.tally", "b.tally", "-o", "c.tally").returncode == 1


def test_an_allowed_overlap_is_said_in_the_result_and_in_what_is_saved(in_process, votes, tmp_path):
    counted(in_process, votes, "t.tally")
    done = in_process(*"merge t.tally t.tally -o both.tally --allow-overlap --json".split())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_items"] == 8
    assert json.loads(done.stdout)["warnings"] == [
        "the rows of votes.csv are counted more than once"
    ]
    assert Tally.load(tmp_path / "both.tally").sources.repeats == ("votes.csv",)


def test_tallies_of_data_in_memory_are_refused_only_if_they_are_the_same_file(in_process, tmp_path):
    """They do not know what they counted, so all that can be compared is the file itself."""
    for name, rows in (("a", [1, 0]), ("b", [1, 0]), ("c", [1, 1])):
        Tally.of({"x": rows}).save(tmp_path / f"{name}.tally")
    done = in_process("merge", "a.tally", "b.tally", "-o", "d.tally")
    assert done.returncode == 1
    assert "a.tally and b.tally both count the same: they are equal byte for byte" in done.stderr
    done = in_process("merge", "a.tally", "b.tally", "-o", "d.tally", "--allow-overlap", "--json")
    [warning] = json.loads(done.stdout)["warnings"]
    assert "byte for byte" in warning
    assert in_process("merge", "a.tally", "c.tally", "-o", "d.tally").returncode == 0


def days(tmp_path):
    """Monday's export, and Tuesday's, which holds Monday's rows too."""
    rows = [f"q{i},{'ham' if i % 3 else 'spam'},{'ham' if i % 7 else 'spam'}" for i in range(600)]
    for name, part in (("mon", rows[:200]), ("tue", rows), ("new", rows[200:])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,ann,bob", *part]) + "\n")
    return rows


def test_a_cumulative_export_is_not_added_to_what_it_holds(in_process, tmp_path):
    days(tmp_path)
    for name in ("mon", "tue", "new"):
        counted(in_process, f"{name}.csv", f"{name}.tally")
    done = in_process("merge", "mon.tally", "tue.tally", "-o", "both.tally")
    assert done.returncode == 1
    assert "mon.tally and tue.tally both count the same rows (100% of the smaller" in done.stderr
    assert not (tmp_path / "both.tally").exists()
    assert in_process("merge", "mon.tally", "new.tally", "-o", "all.tally").returncode == 0
    done = in_process("merge", "all.tally", "tue.tally", "-o", "both.tally", "--allow-overlap")
    assert "counted more than once" in done.stdout
    assert "mon.csv, new.csv, tue.csv" in Tally.load(tmp_path / "both.tally").sources.repeats[0]


def test_the_same_rows_in_another_form_are_found(in_process, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq
    from openpyxl import Workbook

    rows = [row.split(",") for row in days(tmp_path)[:200]]
    counted(in_process, "mon.csv", "mon.tally")

    crlf = "\r\n".join(["bob,item,ann", *(f"{b},{i},{a}" for i, a, b in reversed(rows))])
    (tmp_path / "crlf.csv").write_bytes(crlf.encode())
    columns = dict(zip(("item", "ann", "bob"), zip(*rows, strict=True), strict=True))
    table = pa.table({name: list(cells) for name, cells in columns.items()})
    pq.write_table(table, tmp_path / "rows.parquet")
    book = Workbook()
    for row in (("item", "ann", "bob"), *rows):
        book.active.append(row)
    book.save(tmp_path / "rows.xlsx")

    for name in ("crlf.csv", "rows.parquet", "rows.xlsx"):
        counted(in_process, name, "other.tally")
        done = in_process("merge", "mon.tally", "other.tally", "-o", "both.tally")
        assert done.returncode == 1, name
        assert "the same rows (100%" in done.stderr


def test_ids_that_start_again_in_each_file_are_no_overlap(in_process, tmp_path):
    for k, name in enumerate(("mon", "tue")):
        rows = [f"{i},{(i * 7 + k) % 3},{(i * 5 + 2 * k) % 4}" for i in range(300)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,ann,bob", *rows]) + "\n")
        counted(in_process, f"{name}.csv", f"{name}.tally")
    done = in_process("merge", "mon.tally", "tue.tally", "-o", "both.tally", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_items"] == 600


@pytest.mark.parametrize(("start", "refused"), [(150, True), (250, True), (298, False)])
def test_a_part_that_both_files_hold_is_found(in_process, tmp_path, start, refused):
    """Two exports of 300 rows that overlap: half, a sixth, and two corrected rows."""
    rng = np.random.default_rng(4)
    votes = [f"{i},{a},{b}" for i, (a, b) in enumerate(rng.integers(0, 4, (600, 2)))]
    for name, rows in (("mon", votes[:300]), ("tue", votes[start : start + 300])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,ann,bob", *rows]) + "\n")
        counted(in_process, f"{name}.csv", f"{name}.tally")
    done = in_process("merge", "mon.tally", "tue.tally", "-o", "both.tally")
    assert done.returncode == int(refused), done.stderr
    assert ("the same rows" in done.stderr) == refused


def test_ids_that_start_again_with_votes_that_are_often_alike_are_no_overlap(in_process, tmp_path):
    rng = np.random.default_rng(5)
    for name in ("mon", "tue"):
        rows = [f"{i},{a:d},{a:d}" for i, a in enumerate(rng.random(300) < 0.8)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,ann,bob", *rows]) + "\n")
        counted(in_process, f"{name}.csv", f"{name}.tally")
    assert in_process("merge", "mon.tally", "tue.tally", "-o", "both.tally").returncode == 0


def test_one_label_of_two_types_names_a_way_out_that_exists(in_process, tmp_path):
    """merge has no --coerce: a table is counted again with it, and the sum then coerces."""
    for name, rows in (("a", ["0", "1"]), ("b", [0, 1])):
        Tally.of({"x": rows}).save(tmp_path / f"{name}.tally")
    done = in_process("merge", "a.tally", "b.tally", "-o", "both.tally")
    assert done.returncode == 1
    assert (
        "count one of the tables again with coerce=True (tallystick tally --coerce)" in done.stderr
    )
    Tally.of({"x": [0, 1]}, coerce=True).save(tmp_path / "b.tally")
    assert in_process("merge", "a.tally", "b.tally", "-o", "both.tally").returncode == 0
