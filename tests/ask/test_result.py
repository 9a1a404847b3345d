from tallystick import ask


def test_shares_of_answers_add_up_and_the_table_stays_out_of_json():
    table = {"id": [1, 2, 3, 4], "said": ["yes", "yes", "no", "hm"]}
    result = ask(table, api="replay:said", name="gpt", labels=("yes", "no"))
    rows = result.rows()
    assert {row["answer"]: row["rows"] for row in rows} == {"yes": 2, "no": 1, "(unread)": 1}
    assert sum(row["share"] for row in rows) == 1.0
    assert "table" not in result.to_dict()
    assert result.table["gpt"] == ["yes", "yes", "no", "(unread)"]
