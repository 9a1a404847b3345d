"""Looks at a table, says what its columns are taken for, and runs all that applies.

Columns are told by `tallystick.data.detect`, which asks where it cannot tell; then every capability
of the registry that applies is asked, and loads only then.
"""

from __future__ import annotations

from tallystick.verbs.audit.answer import AuditResult, audit

__all__ = ["AuditResult"]
