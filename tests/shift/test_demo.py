from tallystick import shift
from tallystick.verbs.shift.question import demo


def test_the_demonstration_shows_a_change_that_is_there():
    made = demo(0)
    result = shift(made.table, **made.options)
    assert result.decision == "decided"
    assert result.top_cells[0].answered == "negative"
    assert result.calls == made.options["budget"]
    assert made.story
