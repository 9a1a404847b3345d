from tallystick.table import Found, gather, read
from tallystick.table.capability import MOST_CASES, MOST_SIGNS

TEXT = "a question that is long enough to be read by people"


def table(n=300):
    return {
        "id": [f"q{i}" for i in range(n)],
        "gpt": ["pass", "fail"] * (n // 2),
        "prompt": [f"{TEXT} {i}" for i in range(n)],
        "short": ["x"] * n,
    }


def found(rows, kind="wrong"):
    return [Found(row=row, kind=kind, summary="s") for row in rows]


def test_items_have_their_names_and_the_columns_that_people_read():
    with read(table(), item="id", judges=("gpt",)) as data:
        cases = gather(data, found([3, 5]), title="Items", line="Two.")
    assert [case.item for case in cases.cases] == ["q3", "q5"]
    assert cases.cases[0].texts == (("prompt", f"{TEXT} 3"),), "short codes are no text"


def test_many_items_are_cut_and_still_counted_and_every_kind_is_shown():
    with read(table(), item="id", judges=("gpt",)) as data:
        cases = gather(
            data, [*found(range(250)), *found([280], "rare")], title="Items", line="Many."
        )
    assert len(cases.cases) == MOST_CASES
    assert cases.kinds == (("wrong", 250), ("rare", 1))
    assert cases.total == 251
    assert "rare" in {case.kind for case in cases.cases}


def test_a_long_text_is_cut_and_says_so():
    held = table() | {"prompt": ["y" * 10_000] * 300}
    with read(held, item="id", judges=("gpt",)) as data:
        [case] = gather(data, found([0]), title="Items", line="One.").cases
    [(_, text)] = case.texts
    assert len(text) < MOST_SIGNS + 20
    assert text.endswith("… (cut)")


def test_a_row_without_a_name_is_called_by_its_place():
    held = {name: cells for name, cells in table().items() if name != "id"}
    with read(held, judges=("gpt",)) as data:
        assert data.roles.item is None
        [case] = gather(data, found([7]), title="Items", line="One.").cases
    assert case.item == "row 8"
