"""Every way in gives the same outputs, and bad tables are refused by name."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.table import Tally
from tallystick.verbs.score import evaluate
from tests.score.tables import ROLES, drawn


def key(result):
    """Return every number of the systems and pairs."""
    systems = [(row.name, row.score, tuple(row.interval), row.n_labels) for row in result.systems]
    pairs = [(p.a, p.b, p.difference, tuple(p.interval), p.adjusted_p) for p in result.pairs]
    return systems, pairs


@pytest.fixture(scope="module")
def table():
    return drawn(items=120, graded=30)


@pytest.fixture(scope="module")
def expected(table):
    return key(evaluate(table, **ROLES))


@pytest.fixture(scope="module")
def frame(table):
    return pytest.importorskip("pandas").DataFrame(table)


def test_a_wide_table_agrees_with_its_systems_named_or_found(tmp_path, frame, expected):
    wide = frame.pivot(index="item", columns="system", values=["x", "y", "z", "human"])
    wide.columns = [f"{system}.{part}" for part, system in wide.columns]
    wide = wide.reset_index()
    wide["order"] = wide["item"].str[1:].astype(int)
    wide = wide.sort_values("order").drop(columns="order")
    wide.to_csv(tmp_path / "wide.csv", index=False)
    for source in (wide, str(tmp_path / "wide.csv")):
        found = evaluate(source, truth="human")
        assert key(found) == expected
        assert any("3 systems (a, b, c)" in note for note in found.notes)
        assert key(evaluate(source, systems="a,b,c", truth="human", item="item")) == expected
    other = wide.rename(columns=lambda name: name.replace(".", "-"))
    assert key(evaluate(other, systems=("a", "b", "c"), truth="human")) == expected
    assert key(evaluate(other, separator="-", truth="human")) == expected


def test_human_grades_may_come_in_a_second_file(tmp_path, frame, expected):
    frame.drop(columns="human").to_csv(tmp_path / "outputs.csv", index=False)
    frame[frame.human.notna()][["item", "system", "human"]].to_csv(
        tmp_path / "people.csv", index=False
    )
    roles = {name: value for name, value in ROLES.items() if name != "truth"}
    found = evaluate(
        str(tmp_path / "outputs.csv"), truth_file=str(tmp_path / "people.csv"), **roles
    )
    assert key(found) == expected


@pytest.mark.parametrize(("item", "system"), [("i999", "a"), ("i1", "nobody")])
def test_a_label_on_an_unknown_output_is_refused(tmp_path, frame, item, system):
    frame.drop(columns="human").to_csv(tmp_path / "outputs.csv", index=False)
    (tmp_path / "people.csv").write_text(f"item,system,human\ni1,a,pass\n{item},{system},fail\n")
    roles = {name: value for name, value in ROLES.items() if name != "truth"}
    with pytest.raises(InputError, match=f"does not have, such as '{item}' / '{system}'") as caught:
        evaluate(str(tmp_path / "outputs.csv"), truth_file=str(tmp_path / "people.csv"), **roles)
    assert "people.csv: 1 of 2 labels are for items that" in str(caught.value)
    assert "Check 'item' and 'system' in both files" in str(caught.value)


def test_a_tally_gives_the_same_scores_and_no_pairs_with_the_reason(table, expected, tmp_path):
    tally = Tally.of(table, columns=["system", "x", "y", "z", "human"])
    tally.save(tmp_path / "outputs.tally")
    for source in (tally, str(tmp_path / "outputs.tally")):
        found = evaluate(source, truth="human")
        assert_same(found, expected[0])
        assert isinstance(found.pairs, Unknown)
        body = found.to_dict()
        assert body["pairs"] is None
        assert "one item" in body["unknown"]["pairs"]


def test_a_tally_claims_only_what_intervals_for_all_systems_at_once_show(table, tmp_path):
    """Two equal systems and a much better one: the two are never ordered, the third may be."""
    for rates, best in (({"a": 0.7, "b": 0.7}, None), ({"a": 0.3, "b": 0.95}, "b")):
        held = drawn(items=300, graded=60, rates=rates, seed=2)
        tally = Tally.of(held, columns=["system", "x", "y", "z", "human"])
        found = evaluate(tally, **{name: ROLES[name] for name in ("system", "judges", "truth")})
        rows = evaluate(held, **ROLES)
        assert found.contenders == ((best,) if best else rows.contenders)
        assert found.decision == ("decided" if best else "undecided")
        start = f"{best} is better than a: " if best else "We cannot tell which system is best: "
        assert found.verdict.startswith(start)
        assert any("do not overlap" in text for text in found.assumptions)


def assert_same(found, systems):
    """Hold scores of counts to those of rows: sums in another order differ in the last digit."""
    for row, (name, score, interval, labels) in zip(found.systems, systems, strict=True):
        assert (row.name, row.n_labels) == (name, labels)
        assert (row.score, *row.interval) == pytest.approx((score, *interval), abs=1e-12)


@pytest.mark.parametrize(
    ("change", "options", "words"),
    [
        (lambda t: {"w": [0.5] * 360}, {"count": "w"}, "whole number"),
        (lambda t: {"system": [None, *t["system"][1:]]}, {}, r"row 1 .*: the system column"),
        (lambda t: {"item": ["i1", *t["item"][1:]]}, {}, r"'i1' and 'a' occur twice, at row 1 "),
        (lambda t: {name: [*c, c[0]] for name, c in t.items()}, {}, "at row 1 .* and row 361 "),
        (lambda t: {"human": ["passs", *t["human"][1:]]}, {}, "passs in human is said by no voter"),
        (
            lambda t: {
                **{j: [1 if v == "pass" else 5 for v in t[j]] for j in "xyz"},
                "human": [9, *[None] * 359],
            },
            {"scale": (1, 5)},
            "column human: 9 is outside the scale 1 to 5",
        ),
    ],
    ids=["count", "system", "twice", "copied", "word", "scale"],
)
def test_a_bad_cell_is_refused_by_name(table, change, options, words):
    with pytest.raises(InputError, match=words):
        evaluate({**table, **change(table)}, **options, **ROLES)


def test_missing_grades_are_allowed(table):
    rng = np.random.default_rng(0)
    gaps = {j: [v if rng.random() < 0.8 else None for v in table[j]] for j in "xyz"}
    found = evaluate({**table, **gaps}, **ROLES)
    assert all(not isinstance(row.score, Unknown) for row in found.systems)


def test_one_system_without_a_column_is_scored(table):
    part = {
        n: [v for v, s in zip(c, table["system"], strict=True) if s == "b"]
        for n, c in table.items()
    }
    part.pop("system")
    found = evaluate(part, judges=("x", "y", "z"), truth="human", item="item")
    assert [row.name for row in found.systems] == ["all outputs"]
    assert found.verdict.startswith("The outputs score ")
    assert found.decision == "decided"


def test_a_probability_is_needed_for_every_graded_output(table):
    chance = [None if value is not None else 0.2 for value in table["human"]]
    with pytest.raises(InputError, match="its probability"):
        evaluate({**table, "p": chance}, probability="p", **ROLES)
    tally = Tally.of({**table, "p": [0.2] * 360}, columns=["system", "x", "y", "z", "human", "p"])
    with pytest.raises(InputError, match="holds counts"):
        evaluate(tally, system="system", judges=("x", "y", "z"), truth="human", probability="p")
