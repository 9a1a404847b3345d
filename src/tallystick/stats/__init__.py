"""Pure mathematics on arrays; nothing here reads files or knows a capability."""

from __future__ import annotations

_UNUSED = frozenset(
    [
        "char",
        "core",
        "ctypeslib",
        "f2py",
        "ma",
        "matlib",
        "polynomial",
        "rec",
        "strings",
        "test",
        "testing",
        "typing",
    ]
)
"""Parts of NumPy that it loads when they are named, and that special functions do not need."""


def _load_special_functions() -> None:
    """Load ``scipy.special`` without the parts of NumPy that it would name, and so load.

    That is three fifths of what the import costs: 0.17 of 0.29 processor seconds of every command.
    NumPy is as it was afterwards, and its parts load for whoever names them.
    """
    import numpy as np

    listed, named = np.__dir__, np.__all__
    try:
        vars(np)["__dir__"] = lambda: [name for name in listed() if name not in _UNUSED]
        np.__all__ = [name for name in named if name not in _UNUSED]
        import scipy.special
    finally:
        vars(np)["__dir__"], np.__all__ = listed, named


_load_special_functions()
