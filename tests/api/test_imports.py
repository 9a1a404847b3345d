"""Every test module can be imported.

pytest skips a module that cannot (``--doctest-ignore-import-errors``, for the modules of extras that
are not installed): without this check a test that imports a name which is gone never runs again.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def absent(text: str) -> list[str]:
    """Return what *text* imports from the package and is not there."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tallystick")):
            continue
        try:
            module = import_module(str(node.module))
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("tallystick"):
                found.append(str(node.module))
            continue  # an extra that is not installed
        for one in node.names:
            if not hasattr(module, one.name):
                try:
                    import_module(f"{node.module}.{one.name}")
                except ImportError:
                    found.append(f"{node.module}.{one.name}")
    return found


def test_no_test_imports_a_name_that_is_gone() -> None:
    found = {
        str(path.relative_to(TESTS)): missing
        for path in sorted(TESTS.rglob("*.py"))
        if (missing := absent(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from tallystick.table import scan", []),
        ("from tallystick.table import gone", ["tallystick.table.gone"]),
        ("from tallystick.gone import x", ["tallystick.gone"]),
        ("from tallystick.table import tally_files", []),
    ],
)
def test_the_check_sees_names_that_are_gone(text: str, expected: list[str]) -> None:
    assert absent(text) == expected
