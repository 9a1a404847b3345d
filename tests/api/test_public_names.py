"""What the package offers, and what it costs to load."""

import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import tallystick

ROOT = Path(tallystick.__file__).parent
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages([str(ROOT)], "tallystick.")
    if not module.name.endswith("__main__")
)  # which runs when it is loaded
HEAVY = (
    "numpy",
    "scipy",
    "pyarrow",
    "duckdb",
    "narwhals",
    "pandas",
    "polars",
    "jinja2",
    "httpx",
    "pydantic",
)


def load(name):
    if ".deep" in name:
        pytest.importorskip("torch", reason="the extra [torch] is not installed")
    return importlib.import_module(name)


def test_every_public_name_of_the_package_loads():
    for name in tallystick.__all__:
        assert getattr(tallystick, name) is not None
    assert set(tallystick.__all__) <= set(dir(tallystick))


def test_every_room_that_exists_can_be_opened_by_attribute():
    rooms = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()} - {"cli"}
    assert rooms <= set(dir(tallystick))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        tallystick.nothing  # noqa: B018


# These rooms hold others, or serve one other room: nobody imports from their door.
WITHOUT_NAMES = (
    "tallystick.integrations",
    "tallystick.serve.pages",
    "tallystick.stats",
    "tallystick.verbs",
)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_has_a_docstring_and_every_room_documents_what_is_public(name):
    module = load(name)
    assert module.__doc__, f"{name} has no docstring"
    room = hasattr(module, "__path__")
    public = getattr(module, "__all__", ())
    assert public or not room or name in WITHOUT_NAMES or name.startswith("tallystick.papers")
    assert len(public) == len(set(public))
    for item in public:
        held = getattr(module, item)
        if inspect.isfunction(held) or inspect.isclass(held):
            assert inspect.getdoc(held), f"{name}.{item} has no docstring"


def test_no_public_name_is_hidden_by_a_module_of_the_same_name():
    for name in MODULES:  # once a module is loaded, its package has it as an attribute
        if ".deep" not in name:
            importlib.import_module(name)
    for name in ("tallystick", *MODULES):
        module = sys.modules.get(name)
        if module is not None and hasattr(module, "__path__"):
            hidden = [
                item
                for item in getattr(module, "__all__", ())
                if inspect.ismodule(getattr(module, item))
            ]
            assert not hidden, f"{name}: {hidden} are modules where functions were promised"


def test_importing_the_package_and_the_command_line_loads_nothing_heavy():
    code = (
        f"import sys, tallystick, tallystick.cli.app; print([m for m in {HEAVY} if m in"
        " sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


def test_what_trains_neural_networks_needs_numpy_and_torch_alone():
    """A machine with an accelerator has a plain checkout and no other library of ours."""
    code = (
        "import sys, tallystick.verbs.dynamic; print(*{m.split('.')[0] for m in sys.modules} -"
        " sys.stdlib_module_names)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    others = set(done.stdout.split()) - {"tallystick", "numpy", "cython_runtime"}
    assert {name for name in others if not name.startswith("_")} == set()


LAST_DOORS = {("cli/__init__.py", "except Exception"), ("table/columnar.py", "except Exception")}
"""Where every error arrives in the end, is told to the user, and leaves with its own exit code; and
a damaged workbook, whose every error (of the archive, its XML, its contents) becomes one of ours."""


def test_no_code_uses_global_randomness_or_swallows_errors():
    forbidden = (
        "np.random.seed",
        "np.random.rand",
        "except Exception",
        "except:",
        "warnings.filterwarnings",
        "import pickle",
    )
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for phrase in forbidden:
            if (str(path.relative_to(ROOT)), phrase) in LAST_DOORS:
                continue
            assert phrase not in text, f"{path.name} has {phrase!r}"
