"""The pages of the service: templates, one stylesheet, one script, and nothing from elsewhere."""

from __future__ import annotations

from tallystick.serve.pages.site import problem_page, start_link

__all__: list[str] = []
