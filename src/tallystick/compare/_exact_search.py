"""How closely the ends of (C2) are sought, by either way of summing."""

__all__ = ["HALVINGS", "POINTS", "REACH"]

POINTS = 16
HALVINGS = 30
"""Halvings of an interval of width at most 2: ends are good to 2e-9 and always lie outside."""
REACH = 8.0
"""Standard deviations of the number of disagreements that are summed over; beyond lies less than
1e-14."""
