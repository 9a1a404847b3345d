"""One limit of memory for the engine and for arrays."""

from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.table import engine as memory
from tallystick.table.engine import fits, memory_limit, require


@pytest.mark.parametrize(
    ("text", "size"), [("512MB", 512e6), ("1.5 GB", 1.5e9), ("2KiB", 2048), ("1TB", 1e12)]
)
def test_the_variable_sets_the_limit(
    text: str, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALLYSTICK_MEMORY", text)
    assert memory_limit() == size
    assert fits(size / 2)
    assert not fits(size / 2 + 1)


@pytest.mark.parametrize("text", ["lots", "4", "0GB", "-1GB"])
def test_anything_else_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALLYSTICK_MEMORY", text)
    with pytest.raises(InputError, match="must be a size such as"):
        memory_limit()


def test_a_container_with_less_memory_than_the_machine_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.delenv("TALLYSTICK_MEMORY", raising=False)
    held = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_CONTAINER", held)
    whole = memory_limit()
    held.write_text("max\n", encoding="ascii")
    assert memory_limit() == whole
    held.write_text("100000\n", encoding="ascii")
    assert memory_limit() == 50_000


def test_what_does_not_fit_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALLYSTICK_MEMORY", "2GB")
    require(1e9, "A board", "Give fewer rows.")
    with pytest.raises(InputError, match=r"A board needs about 3\.0 GB .*TALLYSTICK_MEMORY=7GB"):
        require(3e9, "A board", "Give fewer rows.")
