from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from tallystick.report import page_of
from tallystick.report.page import MOST_JSON, twin
from tallystick.results import Result, Slice
from tests.report.conftest import result


@dataclass(frozen=True, kw_only=True)
class Pairs(Result):
    verb: ClassVar[str] = "pairs"
    pairs: tuple[Any, ...] = ()
    kept: Any = field(default=None, metadata={"private": True})


def test_a_short_result_has_its_twin(hostile):
    assert twin(hostile).startswith('{"schema": 1, "verb": "drawn"')


def test_a_long_one_has_none_and_the_page_says_how_to_get_it():
    long = Pairs(verdict="v", n_items=1, pairs=tuple(f"{i:>80}" for i in range(MOST_JSON // 80)))
    assert twin(long) == ""
    assert "The JSON is too long for this page" in page_of(long)


def test_what_is_private_takes_no_room():
    assert twin(Pairs(verdict="v", n_items=1, kept=[0] * 10**6)) != ""


def test_slices_are_part_of_it():
    held = replace(result(["a", "b"]), slices=(Slice("east", "no items"),))
    assert '"slices": [{"slice": "east", "verdict": null' in twin(held)
