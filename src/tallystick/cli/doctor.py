"""``tallystick doctor``: versions, engines found, what is missing and how to get it."""

from __future__ import annotations

import platform
import shutil
import sys
from dataclasses import dataclass
from importlib import metadata
from typing import Any, ClassVar

import click

import tallystick
from tallystick.cli.deliver import deliver
from tallystick.cli.verb import output_options, sorted_options
from tallystick.results import Result

__all__ = ["Component", "DoctorResult", "doctor", "examine"]

_NEEDED = (
    "numpy",
    "scipy",
    "pyarrow",
    "duckdb",
    "narwhals",
    "click",
    "rich",
    "jinja2",
    "httpx",
    "stamina",
    "joblib",
)
_OPTIONAL = {
    "pandas": "pip install pandas",
    "polars": "pip install polars",
    "dask": "pip install 'tallystick[dask]'",
    "pyspark": "pip install 'tallystick[spark]'",
    "torch": "pip install 'tallystick[torch]'",
    "resvg-py": "pip install 'tallystick[png]'",
}


@dataclass(frozen=True)
class Component:
    """One library or program: its version, or None and the way to get it."""

    name: str
    version: str | None
    required: bool
    remedy: str


@dataclass(frozen=True, kw_only=True)
class DoctorResult(Result):
    """What this installation can do."""

    verb: ClassVar[str] = "doctor"

    version: str
    python: str
    platform: str
    parts: tuple[Component, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per part."""
        return [
            {
                "part": p.name,
                "version": p.version or "missing",
                "needed": "yes" if p.required else "optional",
                "how to get it": "" if p.version else p.remedy,
            }
            for p in self.parts
        ]


def examine() -> DoctorResult:
    """Look at this installation without loading anything heavy."""
    parts = [Component(name, _version(name), True, f"pip install {name}") for name in _NEEDED]
    parts += [Component(name, _version(name), False, remedy) for name, remedy in _OPTIONAL.items()]
    if _version("pyspark") is not None:
        java = "found" if shutil.which("java") else None
        parts.append(
            Component("java", java, False, "install a Java 17 runtime: Spark frames need it")
        )
    lacking = [part.name for part in parts if part.version is None]
    broken = [part.name for part in parts if part.version is None and part.required]
    if broken:
        verdict = f"Tallystick cannot work here: {', '.join(broken)} missing."
    else:
        verdict = "Tallystick is ready" + (
            f"; optional parts missing: {', '.join(lacking)}." if lacking else "."
        )
    return DoctorResult(
        verdict=verdict,
        n_items=0,
        version=tallystick.__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        parts=tuple(parts),
    )


def _run(**given: Any) -> None:
    """Show versions, engines found, what is missing and how to get it."""
    result = examine()
    _, delivery = sorted_options(given)
    deliver(result, delivery)
    if any(part.required and part.version is None for part in result.parts):
        sys.exit(1)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


doctor = click.Command(
    "doctor",
    callback=_run,
    help=_run.__doc__,
    context_settings={"help_option_names": ["-h", "--help"]},
    params=output_options(items=False),
)
