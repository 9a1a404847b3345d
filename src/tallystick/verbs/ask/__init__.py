"""Ask an API or a judge about every row, once, and add the answers as a column.

| question | call |
|---|---|
| ask about a table | :func:`evaluate` |
| how answers are read | `tallystick.clients.AnswerReading` |
| one client, one journal | `tallystick.clients.Caller` |

It is how judges' grades and a system's answers get into the table that every other verb reads.
"""

from __future__ import annotations

from tallystick.verbs.ask.answer import CAPABILITY
from tallystick.verbs.ask.result import AskResult

__all__ = ["AskResult"]
