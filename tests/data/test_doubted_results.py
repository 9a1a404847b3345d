"""A doubt becomes a warning once, and an assumption of every interval."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.results import Interval, Result, Slice
from tallystick.table.doubts import Doubt, with_doubt


@dataclass(frozen=True, kw_only=True)
class DoubtedResult(Result):
    held: tuple[Interval, ...] = ()
    named: dict[str, Interval] | None = None


EXACT = Interval(0.1, 0.2, guarantee="exact")
UNDER = Interval(0.1, 0.2, guarantee="under", assumption="A")


def test_every_interval_rests_on_the_assumption_however_deep_it_lies() -> None:
    inner = DoubtedResult(verdict="part", n_items=1, held=(EXACT,))
    result = DoubtedResult(
        verdict="all",
        n_items=2,
        held=(EXACT, UNDER),
        named={"x": EXACT},
        slices=(Slice("s", inner),),
        basis="95% intervals.",
    )
    doubt = Doubt(why="are odd", seen="W", way_out="X", assumption="B")
    changed = with_doubt(result, doubt)
    assert with_doubt(changed, doubt) is changed
    assert with_doubt(result, None) is result
    assert [one.promise for one in changed.held] == ["under B", "under A; B"]
    assert changed.named is not None
    assert changed.named["x"].promise == "under B"
    assert changed.slices[0].answer.held[0].promise == "under B"
    assert changed.basis == "95% intervals. They hold only if B."
    assert (changed.warnings, changed.assumptions) == (("the labels are odd: W. X",), ("B",))
