"""The labelling page: one item at a time, on this machine only."""

from __future__ import annotations

from tallystick.serve.label_page.app import label_app, serve_labels

__all__ = ["label_app", "serve_labels"]
