"""The error tree.

::

    TallystickError
    ├── InputError          the caller's data or argument cannot be used (also a ValueError)
    │   ├── FileError       a file cannot be read or written: absent, damaged, of another kind
    │   │   └── FormatError a saved Tallystick file is damaged, foreign or of a newer version
    │   ├── MergeError      two tallies do not fit together
    │   └── UsageError      the question has to be put differently (exit code 2)
    │       └── AskError    a column or a cell can mean two things: which? (exit code 2)
    ├── NotIdentifiable     the data cannot answer this question by this method
    ├── ConvergenceError    an iteration stopped before it reached its tolerance
    ├── BudgetError         the budget of calls or money does not allow what was asked
    └── MissingExtra        an optional library is needed (also an ImportError)

Every message names the argument, the value and the way out.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def meant(word: str, known: Iterable[str], *, otherwise: str = "", most: int = 1) -> str:
    """Return the known words that are near, as the end of a message; else what stands for none.

    >>> meant("jugdes", ["judges", "truth"])
    ": did you mean 'judges'?"
    """
    near = get_close_matches(word, list(known), n=most)
    return f": did you mean {' or '.join(map(repr, near))}?" if near else otherwise


def unknown(what: str, name: str, known: Iterable[str] = ()) -> str:
    """Return that there is no such thing: the one that may be meant, or all that there are.

    >>> unknown("verb", "scroe", ["score", "judge"])
    "there is no verb 'scroe': did you mean 'score'?"
    """
    held = list(known)
    listed = f": there are {', '.join(held)}" if held else ""
    return f"there is no {what} {name[:80]!r}{meant(name, held, otherwise=listed)}"


def no_attribute(module: str, name: str) -> AttributeError:
    """Return what Python says of a name that a module which loads lazily does not have."""
    return AttributeError(f"module {module!r} has no attribute {name!r}")


class TallystickError(Exception):
    """The root: catch this to catch everything that Tallystick raises on purpose."""


class InputError(TallystickError, ValueError):
    """The caller's data or argument cannot be used; the message says which and what to do."""


class FileError(InputError):
    """A file cannot be read or written: absent, empty, truncated, a directory, not text."""


class FormatError(FileError):
    """A saved Tallystick file is damaged, foreign, or written by a newer version."""


class MergeError(InputError):
    """Two tallies (or moments, or journals) do not fit together."""


class UsageError(InputError):
    """The question has to be put differently: the message says what to type, or asks."""


class AskError(UsageError):
    """A column can mean two things, and only the caller knows which.

    Parameters
    ----------
    question
        One line: what is not clear, where, and what was seen.
    role
        What is open: judges, truth, item, missing, …
    candidates
        The columns, groups of columns or values that it could be.
    calls
        Answers, the likelier first: the options that give them (``--judges gpt,claude``), or a
        whole command. At most two are kept.
    """

    def __init__(
        self,
        question: str,
        *,
        role: str,
        candidates: tuple[str, ...] = (),
        calls: tuple[str, ...] = (),
    ) -> None:
        super().__init__(question)
        self.question = question
        self.role = role
        self.candidates = candidates
        self.calls = calls[:2]

    def __str__(self) -> str:
        return f"{self.question} Add {' or '.join(self.calls)}" if self.calls else self.question


class NotIdentifiable(TallystickError):
    """The data cannot answer this question by this method, however much of it there is."""


class ConvergenceError(TallystickError):
    """An iteration stopped before it reached its tolerance; no number is returned."""


class BudgetError(TallystickError):
    """The budget of calls or money does not allow what was asked."""


class MissingExtra(TallystickError, ImportError):
    """An optional library is needed for this call.

    Parameters
    ----------
    library
        The module that could not be imported.
    extra
        The extra of Tallystick that installs it.
    """

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed: pip install 'tallystick[{extra}]'")
        self.library = library
        self.extra = extra
