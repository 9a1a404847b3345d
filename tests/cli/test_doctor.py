import json

from tallystick.cli import first as doctor
from tallystick.cli.first import examine


def test_the_doctor_lists_versions_and_remedies(tallystick):
    out = json.loads(tallystick("doctor", "--json").stdout)
    parts = {part["name"]: part for part in out["parts"]}
    assert parts["numpy"]["version"].count(".") >= 1
    assert "tallystick[torch]" in parts["torch"]["remedy"]


def test_a_missing_requirement_is_named(monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "duckdb" else "1")
    result = examine()
    assert "lacks duckdb" in result.verdict


def test_a_whole_installation_is_ready(monkeypatch):
    monkeypatch.setattr(doctor, "_version", lambda name: "1")
    assert examine().verdict == "Tallystick is ready."
