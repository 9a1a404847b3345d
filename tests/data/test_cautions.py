"""What a table shows becomes a warning once, and an assumption of every interval."""

from __future__ import annotations

from dataclasses import dataclass

from tallystick.results import Interval, Result, Slice
from tallystick.table.doubts import Caution, with_cautions


@dataclass(frozen=True, kw_only=True)
class CautionedResult(Result):
    held: tuple[Interval, ...] = ()
    named: dict[str, Interval] | None = None


EXACT = Interval(0.1, 0.2, guarantee="exact")
UNDER = Interval(0.1, 0.2, guarantee="under", assumption="A")


def test_every_interval_rests_on_the_assumption_however_deep_it_lies() -> None:
    inner = CautionedResult(verdict="part", n_items=1, held=(EXACT,))
    result = CautionedResult(
        verdict="all",
        n_items=2,
        held=(EXACT, UNDER),
        named={"x": EXACT},
        slices=(Slice("s", inner),),
        basis="95% intervals.",
    )
    changed = with_cautions(result, [Caution(warning="W", assumption="B")])
    assert [one.promise for one in changed.held] == ["under B", "under A; B"]
    assert changed.named is not None
    assert changed.named["x"].promise == "under B"
    assert changed.slices[0].answer.held[0].promise == "under B"
    assert changed.basis == "95% intervals. They hold only if B."
    assert (changed.warnings, changed.assumptions) == (("W",), ("B",))


def test_without_cautions_the_result_is_the_same_object() -> None:
    result = CautionedResult(verdict="all", n_items=2)
    assert with_cautions(result, []) is result
