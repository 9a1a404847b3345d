"""One door to all logs."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.io.logs.helm import read_helm
from tallystick.io.logs.inspect_log import read_inspect_archive, read_inspect_json
from tallystick.io.logs.lm_eval import read_lm_eval
from tallystick.io.logs.log import Log, LogFormat
from tallystick.io.logs.openai_evals import read_openai_evals
from tallystick.io.logs.promptfoo import read_promptfoo
from tallystick.io.sources import File

__all__ = ["read_logs"]


def read_logs(files: Sequence[File], formats: Sequence[LogFormat]) -> list[Log]:
    """Read every file by the format that was found for it, in the order given."""
    readers = {
        "inspect-eval": read_inspect_archive,
        "inspect-json": read_inspect_json,
        "helm": read_helm,
        "openai-evals": read_openai_evals,
    }
    pairs = list(zip(files, formats, strict=True))
    harness = iter(read_lm_eval([file for file, kind in pairs if kind == "lm-eval"]))
    panels = iter(read_promptfoo([file for file, kind in pairs if kind == "promptfoo"]))
    logs: list[Log] = []
    for file, kind in pairs:
        if kind == "promptfoo":
            logs += next(panels)
        else:
            logs.append(next(harness) if kind == "lm-eval" else readers[kind](file))
    return logs
