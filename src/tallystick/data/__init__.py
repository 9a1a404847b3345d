"""The one door: every source is read here, and nowhere else is foreign data checked.

`read` returns `Data`: the rows where they are, the `Roles` of the columns, and what the labels
mean. Every capability answers from it.
"""

from __future__ import annotations

from tallystick.data.capability import (
    Capability,
    Demo,
    ItemTable,
    Option,
    Question,
    answered,
    conclude,
    option,
    options_of,
)
from tallystick.data.cases import Case, Cases, Found, gather
from tallystick.data.data import VOTES, Coded, Data
from tallystick.data.detect.detect import detect
from tallystick.data.detect.reading import Detection, OpenQuestion, Taken
from tallystick.data.layout import Layout, ShapeOption
from tallystick.data.read import Door, read
from tallystick.data.roles import ALL_ROLES, GROUPS, ROLE_HELP, Roles
from tallystick.data.slices import MOST_SLICES, by_slice, slice_labels

__all__ = [
    "ALL_ROLES",
    "GROUPS",
    "MOST_SLICES",
    "ROLE_HELP",
    "VOTES",
    "Capability",
    "Case",
    "Cases",
    "Coded",
    "Data",
    "Demo",
    "Detection",
    "Door",
    "Found",
    "ItemTable",
    "Layout",
    "OpenQuestion",
    "Option",
    "Question",
    "Roles",
    "ShapeOption",
    "Taken",
    "answered",
    "by_slice",
    "conclude",
    "detect",
    "gather",
    "option",
    "options_of",
    "read",
    "slice_labels",
]
