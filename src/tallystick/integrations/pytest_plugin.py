"""A pytest fixture: a test that fails when a gate fails, or when the data cannot decide it.

Installed with Tallystick, the fixture is there without an import::

    def test_the_new_prompt_is_not_worse(tallystick_gate):
        tallystick_gate("compare", ["old.csv", "new.csv"], "new >= old - 0.02", metric="correct")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from tallystick.results import Result

Undecided = Literal["fail", "skip", "pass"]

_VERDICTS = pytest.StashKey[list[str]]()


def check_gate(
    verb: str, source: Any, *gates: str, undecided: Undecided = "fail", **options: Any
) -> Result:
    """Answer a question and hold the answer to its gates.

    Parameters
    ----------
    verb
        ``compare``, ``score``, ``judge``, ``bound`` or ``shift``.
    source
        What the verb reads: a path, a list of paths, a frame, a mapping.
    gates
        Conditions such as ``"new >= old - 0.02"``.
    undecided
        What an undecided gate does. By default it fails the test: not knowing is no pass.
    options
        Options of the verb.

    Examples
    --------
    >>> scores = {"old": [1, 0, 0, 0] * 50, "new": [1, 1, 0, 1] * 50}
    >>> check_gate("compare", scores, "new >= old").gates[0].passed
    True
    """
    from tallystick.errors import InputError
    from tallystick.registry import capability
    from tallystick.table import answered

    if not gates:
        raise InputError("name at least one gate, such as 'new >= old - 0.02'")
    result = answered(capability(verb), source, {**options, "gates": gates})
    told = {True: "passed", False: "failed", None: "undecided"}
    lines = [f"{told[gate.passed]}: {gate.expression}" for gate in result.gates]
    message = "\n".join([*lines, result.verdict])
    if any(gate.passed is False for gate in result.gates):
        pytest.fail(message, pytrace=False)
    if any(gate.passed is None for gate in result.gates):
        if undecided == "fail":
            pytest.fail(message, pytrace=False)
        if undecided == "skip":
            pytest.skip(message)
    return result


@pytest.fixture
def tallystick_gate(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Callable[..., Result]:
    """Give a test `check_gate`; verdicts stand in the summary and in the JUnit report."""
    verdicts = request.config.stash.setdefault(_VERDICTS, [])

    def check(verb: str, source: Any, *gates: str, **options: Any) -> Result:
        result = check_gate(verb, source, *gates, **options)
        record_property("tallystick_verdict", result.verdict)
        verdicts.append(f"{request.node.name}: {result.verdict}")
        return result

    return check


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print what the gates that passed rest on."""
    verdicts = config.stash.get(_VERDICTS, [])
    if verdicts:
        terminalreporter.section("tallystick")
        for line in verdicts:
            terminalreporter.write_line(line)
