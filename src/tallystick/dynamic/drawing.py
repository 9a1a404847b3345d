"""A design as a picture: Figures 1 and 2 of [SAH23]_, drawn from the design itself."""

from __future__ import annotations

from html import escape

from tallystick.dynamic.design import INITIAL, Design

__all__ = ["draw_design"]

_SIGN = {"train": "A", "collect": "H", "mix": "⊕", "vote": "M"}
_FILL = {
    "train": "#dbe9f6",
    "collect": "#fde0d2",
    "mix": "#ffffff",
    "vote": "#d9f0d3",
    "start": "#eeeeee",
}
_STEP_X, _STEP_Y, _RADIUS, _MARGIN = 84, 64, 17, 44


def draw_design(design: Design) -> str:
    """Return the graph of *design* as one SVG image.

    Time runs to the right, one column an operation depth; models stand below the data that they are
    trained on and votes below the models. A is model building, H data collection, ⊕ mixing and M a
    majority vote, as in the paper.

    >>> from tallystick.dynamic.design import path
    >>> image = draw_design(path(3))
    >>> image.count("<circle"), image.count("⊕")
    (9, 2)
    """
    column, row = _places(design)
    at = {
        name: (_MARGIN + _STEP_X * column[name], _MARGIN + _STEP_Y * row[name])
        for name in (INITIAL, *design.order)
    }
    parts = []
    for name in design.order:
        for source in design.steps[name].inputs:
            (x1, y1), (x2, y2) = at[source], at[name]
            length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
            dx, dy = (x2 - x1) / length * _RADIUS, (y2 - y1) / length * _RADIUS
            # Long edges bow upwards, so that they do not run through the nodes between.
            bend = -0.16 * length if y1 == y2 and abs(x2 - x1) > _STEP_X else 0.0
            parts.append(
                f'<path d="M{x1 + dx:.1f},{y1 + dy:.1f}'
                f' Q{(x1 + x2) / 2:.1f},{(y1 + y2) / 2 + bend:.1f} {x2 - dx:.1f},{y2 - dy:.1f}"'
                ' fill="none" stroke="#888" marker-end="url(#tip)"/>'
            )
    for name, (x, y) in at.items():
        operation = "start" if name == INITIAL else design.steps[name].operation
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{_RADIUS}" fill="{_FILL[operation]}" stroke="#444"/>'
            f'<text x="{x}" y="{y + 5}" text-anchor="middle">{_SIGN.get(operation, "D₀")}</text>'
            f'<text x="{x}" y="{y + _RADIUS + 13}" text-anchor="middle" font-size="11" fill="#555">'
            f"{escape(name)}</text>"
        )
    width = 2 * _MARGIN + _STEP_X * max(column.values())
    height = 2 * _MARGIN + _STEP_Y * max(row.values())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" font-family="sans-serif" font-size="14"'
        f' role="img"><title>{escape(design.name)}</title><defs><marker id="tip" viewBox="0 0 8 8"'
        ' refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0 L8,4 L0,8'
        ' z" fill="#888"/></marker></defs>' + "".join(parts) + "</svg>"
    )


def _places(design: Design) -> tuple[dict[str, int], dict[str, int]]:
    """Column: longest way from the start. Row: data on top, trained models next, a vote below its
    lowest voter.
    """
    column, row = {INITIAL: 0}, {INITIAL: 0}
    for name in design.order:
        step = design.steps[name]
        column[name] = 1 + max(column[source] for source in step.inputs)
        row[name] = {"mix": 0, "collect": 1, "train": 1}.get(step.operation, 0)
        if step.operation == "vote":
            row[name] = 1 + max(row[source] for source in step.inputs)
    return column, row
