from tallystick.verbs.bound import evaluate
from tallystick.verbs.bound.result import folds_of

N = 400


def test_the_page_opens_with_the_range_of_the_verdict_and_unfolds_every_label_model():
    table = {
        "clf": ["a" if i % 3 else "b" for i in range(N)],
        "lf_1": ["a" if i % 4 else "b" for i in range(N)],
        "lf_2": ["a" if i % 5 else "b" for i in range(N)],
        "lf_3": ["a" if i % 3 else "b" for i in range(N)],
    }
    result = evaluate(table, prediction="clf", weak=("lf_1", "lf_2", "lf_3"))
    first, *rest = folds_of(result)
    assert first.title == "Range"
    assert {row["label model"] for row in first.rows} == {result.rows()[0]["label_model"]}
    assert "\u00a0% to " in first.rows[0]["range"], "a range is words: it is not an interval"
    titles = [section.title for section in rest]
    assert titles[0] == "Label models"
    assert titles[-1] == "Weak labels"
    assert all(section.line for section in folds_of(result))
    assert result.opening.next.startswith("Next: get about 20 more labelled rows")
