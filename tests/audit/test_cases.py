"""The page of an audit lists the items of its first answer that has any."""

from tallystick.table import Door, read
from tallystick.verbs.audit import audit
from tallystick.verbs.audit.answer import cases_of

N = 120


def table() -> dict[str, list[str]]:
    truth = ["a", "b", "c"] * (N // 3)
    return {
        "id": [f"q{i}" for i in range(N)],
        "question": [f"a question that people read, number {i}" for i in range(N)],
        "gold": truth,
        "gpt": [t if i % 7 else "a" for i, t in enumerate(truth)],
        "claude": [t if i % 5 else "b" for i, t in enumerate(truth)],
        "llama": [t if i % 3 else "c" for i, t in enumerate(truth)],
    }


def test_the_items_of_the_first_section_are_listed_with_texts_that_have_no_role():
    data = read(table(), Door(repeats=True))
    result = audit(data)
    cases = cases_of(result, data)
    assert [part.verb for part in result.sections][:2] == ["compare", "judge"]
    assert cases.line.startswith("Judge: ")
    assert cases.cases[0].texts[0][0] == "question"
    # What was asked is kept for the page, not for the JSON.
    assert "asked" not in result.to_dict()
