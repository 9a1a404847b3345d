from tallystick.verbs.dynamic import LogResult, evaluate


def test_the_terminal_and_the_summary_say_the_same():
    table = {"gold": list("aaaa"), "m": list("aabb"), "n": list("abab"), "o": list("aaab")}
    found = evaluate(table, truth="gold")
    assert isinstance(found, LogResult)
    lines = [text for text, _ in found.terminal(100)]
    assert lines[0] == found.verdict
    assert found.summary().splitlines()[0] == found.verdict
    assert {"round", "risk", "gain", "gain_range"} <= set(found.rows()[0])
    risks, together = found.figures()
    assert (risks.kind, together.kind) == ("rounds", "matrix")


def test_risks_are_shares_and_differences_of_them_are_points():
    table = {name: [1, 0, 1, 1, 0, 1] * 5 for name in "abc"} | {"gold": [1, 1, 1, 0, 0, 1] * 5}
    found = evaluate(table, truth="gold")
    assert [figure.unit for figure in found.figures()] == ["share", "points"]
    assert (found.units()["risk"], found.units()["gain"]) == ("share", "points")
