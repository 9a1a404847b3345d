"""What users install is pinned with hashes, and to the versions that are tested."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def pins(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9-]+)==([\w.]+)", text, re.MULTILINE)), text


def test_every_pin_of_users_has_a_hash_and_is_the_version_that_is_tested():
    users, text = pins("requirements.txt")
    tested, _ = pins("constraints.txt")
    assert users <= tested
    blocks = re.split(r"^(?=[a-z])", text, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(users)
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in text


def test_every_base_requirement_is_pinned():
    users, _ = pins("requirements.txt")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=!~;\[ ]", one)[0] for one in project["dependencies"]}
    assert names <= {name for name, _ in users}
