"""Looks at a table, says what its columns are taken for, and runs all that applies.

``detect`` reads the columns and asks where it cannot tell; ``audit`` runs every capability that
applies. Each capability loads when it is asked.
"""

from __future__ import annotations

from tallystick.audit.audit import audit
from tallystick.audit.detect import detect
from tallystick.audit.reading import Named, OpenQuestion, Reading, Taken
from tallystick.audit.result import AuditResult, Skipped

__all__ = ["AuditResult", "Named", "OpenQuestion", "Reading", "Skipped", "Taken", "audit", "detect"]
