"""Every module is tested, by one of three ways that this file states and checks.

A module has a mirror (``tests/PACKAGE/test_FILE.py``), or examples in its docstrings that run, or
some test imports it, or a public name of it, directly. Only then may its behaviour be relied on.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tallystick"
MODULES = [
    path.relative_to(SOURCE)
    for path in sorted(SOURCE.rglob("*.py"))
    if not path.name.startswith("_")
]


STILL_WITHOUT: frozenset[str] = frozenset()
"""Modules that are tested through the command line and their capability's answers alone. The list
may only become shorter: a module that is no longer one of them has to leave it.
"""


@cache
def words_of_tests() -> tuple[str, frozenset[str]]:
    """Return the text of all tests, and every word in it."""
    files = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    return text, frozenset(re.findall(r"\w+", text))


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_the_module_has_a_mirror_examples_or_a_test_that_imports_it(module: Path) -> None:
    mirror = ROOT / "tests" / module.parent / f"test_{module.name}"
    text = (SOURCE / module).read_text(encoding="utf-8")
    dotted = ".".join(("tallystick", *module.with_suffix("").parts))
    if mirror.exists() or ">>>" in text or dotted in words_of_tests()[0]:
        return
    # Names of a module that its package exports: a test that uses one of them tests the module.
    public = re.search(r"__all__[^=]*= \[(.*?)\]", text, re.DOTALL)
    names = re.findall(r'"(\w+)"', public[1]) if public else []
    alone = not words_of_tests()[1] & set(names)
    assert alone == (str(module) in STILL_WITHOUT), (
        f"{module} has no mirror test, no example, and no test that imports it"
    )
