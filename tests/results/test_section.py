from tallystick.results import Figure, Result, Section

FIGURE = Figure("curve", "c", {"x": [1]}, {"x": "x"})


class Tabled(Result):
    def rows(self):
        return [{"a": 0.5}]

    def units(self):
        return {"a": "share"}

    def figures(self):
        return (FIGURE, FIGURE)


def test_by_default_the_table_and_all_but_the_first_picture_are_one_fold():
    [section] = Tabled(verdict="v", n_items=1).folds()
    wanted = Section(
        title="Table", line="1 row.", rows=[{"a": 0.5}], units={"a": "share"}, figures=(FIGURE,)
    )
    assert section == wanted


def test_a_result_that_has_only_a_verdict_has_no_fold():
    assert Result(verdict="v", n_items=1).folds() == ()


def test_tables_for_pull_requests_are_in_per_cent_too():
    result = Tabled(verdict="v", n_items=1)
    assert "| 50.0% |" in result.to_markdown()
