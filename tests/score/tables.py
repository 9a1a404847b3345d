"""Tables of outputs with a known truth, for the tests of score."""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick.table.panel_grades import GradePanel

RATES = {"a": 0.5, "b": 0.9, "c": 0.7}


def drawn(
    items: int = 200, graded: int = 40, rates: dict[str, float] | None = None, seed: int = 0
) -> dict[str, list[Any]]:
    """Return outputs of systems, three judges who fall for system a, and few human grades."""
    rng = np.random.default_rng(seed)
    shares = rates or RATES
    chosen = set(rng.choice(items, graded, replace=False).tolist())
    table: dict[str, list[Any]] = {name: [] for name in ("item", "system", "x", "y", "z", "human")}
    for item in range(items):
        for system, rate in shares.items():
            good = rng.random() < rate
            table["item"].append(f"i{item}")
            table["system"].append(system)
            for judge in "xyz":
                bad = 0.8 if system == "a" else 0.2
                table[judge].append("pass" if rng.random() < (0.9 if good else bad) else "fail")
            table["human"].append(("pass" if good else "fail") if item in chosen else None)
    return table


ROLES: dict[str, Any] = {
    "item": "item",
    "system": "system",
    "judges": ("x", "y", "z"),
    "truth": "human",
}


def outputs_of(
    grades: Any, truth: Any, system: Any = None, *, pass_fail: bool = True, **more: Any
) -> GradePanel:
    """Return outputs from plain lists; None is no grade."""
    held = np.array(grades, dtype=np.float64)
    held = held if held.ndim == 2 else held[:, None]
    place = np.zeros(len(held), np.int64) if system is None else np.array(system, np.int64)
    names = tuple("abcdefgh"[: int(place.max()) + 1])
    return GradePanel(
        systems=names,
        judges=tuple("xyzuvw"[: held.shape[1]]),
        system=place,
        grades=held,
        truth=np.array(truth, dtype=np.float64),
        counts=more.pop("counts", np.ones(len(held))),
        pass_fail=pass_fail,
        votes=bool(np.isin(held[~np.isnan(held)], (0, 1)).all()),
        **more,
    )
