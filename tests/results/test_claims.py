"""Who is best is claimed only where every rival is beaten."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from tallystick.results import Claims, Interval


def text(name: str) -> str:
    return f"S({name})"


def test_the_best_of_several_needs_every_rival_beaten() -> None:
    names = ("a", "b", "c")
    every = list(combinations(names, 2))
    for chosen in product((False, True), repeat=3):
        better = {pair for pair, kept in zip(every, chosen, strict=True) if kept}
        claims = Claims(names, better)
        whole = {("a", "b"), ("a", "c")} <= better
        assert (claims.best == "a") == whole
        assert ("the best of" in claims.answer(text)) == whole


def test_a_rival_of_which_nothing_is_known_may_be_the_best() -> None:
    claims = Claims(("a", "b"), {("a", "b")}, ("c",))
    assert claims.best is None
    assert claims.contenders == ("a", "c")
    assert claims.answer(text) == "a is better than b: S(a) against S(b)."


def test_without_a_settled_pair_we_cannot_tell() -> None:
    claims = Claims(("a", "b", "c"), set(), what="model")
    assert claims.answer(text) == "We cannot tell which model is best: a S(a), b S(b)."
    assert claims.left() == "Not settled: whether a is better than b and c."
    # Two that are named in the answer are not named again.
    assert Claims(("a", "b")).left() == ""


def test_a_claim_speaks_of_its_own_quality_and_of_what_it_rests_on() -> None:
    judges = Claims(("a", "b", "c"), {("a", "b"), ("a", "c")}, (), "judge", "most accurate")
    assert judges.answer(text, verb="is right on") == (
        "a is the most accurate of three judges: S(a). The next best, b, is right on S(b)."
    )
    assert judges.answer(why="80 of 90") == "a is the most accurate of three judges: 80 of 90."
    assert judges.nearly("a", "2 points", "86%") == (
        "a is the most accurate of three judges, or within 2 points of the most accurate: 86%."
    )
    closer = Claims(("a", "b", "c"), {("a", "b")}, more="closer")
    assert closer.answer() == "a is closer than b."
    assert closer.left() == "Not settled: whether a is also closer than c."
    assert Claims(("a", "b"), what="model").answer(why="a wins 55%") == (
        "We cannot tell which model is best: a wins 55%."
    )


def test_what_is_settled_below_the_leader_does_not_crown_it() -> None:
    claims = Claims(("a", "b", "c"), {("b", "c")})
    assert claims.contenders == ("a", "b")
    assert claims.answer(text).startswith("We cannot tell")
    assert claims.rivals == ("b", "c")


def test_whoever_is_observed_first_and_beaten_does_not_lead() -> None:
    claims = Claims(("a", "b"), {("b", "a")})
    assert claims.leader == "b"
    assert claims.answer(text) == "b is better than a: S(b) against S(a)."


def test_intervals_claim_wrongly_at_most_as_often_as_promised() -> None:
    """Two and five equal competitors: whatever ties them together, at most alpha (here 5%)."""
    rng = np.random.default_rng(7)
    for k, mixed in ((2, -0.9), (2, 0.9), (5, 0.0)):
        z = {2: 2.2414, 5: 2.5758}[k]  # two-sided 1 - .05/k
        wrong = 0
        for _ in range(2_000):
            draw = rng.standard_normal(k)
            if k == 2:
                draw[1] = mixed * draw[0] + np.sqrt(1 - mixed**2) * draw[1]
            held = {str(j): Interval(x - z, x + z) for j, x in enumerate(draw)}
            wrong += bool(Claims.from_intervals(held).better)
        assert wrong / 2_000 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2_000)
