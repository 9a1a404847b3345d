"""Right and wrong, with cells such as ``error`` or ``timeout`` among them: asked about.

A call that failed is neither right nor wrong until somebody says so: left out, the other items are
compared; counted as wrong, the model pays for it. Both are common, and they give different answers.
"""

from __future__ import annotations

from collections.abc import Iterable

from tallystick.values import Label, as_pass_fail, is_never_true, is_no_answer

__all__ = ["failed_marks"]


def failed_marks(labels: Iterable[Label]) -> str | None:
    """Return what to ask about a column of right and wrong, None if all is clear.

    Parameters
    ----------
    labels
        The different cells of one column.

    Examples
    --------
    >>> failed_marks(["Correct", "Incorrect", "error"])
    "holds 'Correct' and 'Incorrect', and also 'error'. If that is a wrong answer, add --never-true error; if it is no answer, add --missing error"
    >>> failed_marks(["yes", "no"]) is None, failed_marks(["a", "b", "error"]) is None
    (True, True)
    >>> failed_marks([0, 1, "timeout"]) is None
    False
    """
    known = [label for label in labels if label is not None and not is_no_answer(label)]
    odd = sorted(str(label) for label in known if is_never_true(label))
    rest = [label for label in known if not is_never_true(label)]
    marks = {0: 0.0, 1: 1.0} if {*rest} <= {0, 1} else as_pass_fail(rest)
    if not odd or marks is None:
        return None
    shown = " and ".join(repr(str(label)) for label in sorted(marks, key=lambda one: -marks[one]))
    also = " and ".join(map(repr, odd[:3])) + (" …" if len(odd) > 3 else "")
    named = _quoted(",".join(odd))
    return (
        f"holds {shown}, and also {also}. If that is a wrong answer, add --never-true {named}; if"
        f" it is no answer, add --missing {named}"
    )


def _quoted(text: str) -> str:
    return f"'{text}'" if " " in text else text
