import json


def test_the_demo_shows_a_verdict_and_repeats(tallystick):
    first = tallystick("demo", "--json", "--seed", "1")
    assert first.returncode == 0
    assert json.loads(first.stdout)["n_items"] == 100_000
    assert first.stdout == tallystick("demo", "--json", "--seed", "1").stdout
