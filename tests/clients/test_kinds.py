import pytest

from tallystick.clients import KINDS, ClientQuestion, client_of, kind_of
from tallystick.errors import InputError


def test_every_prefix_belongs_to_one_kind():
    prefixes = [kind.prefix for kind in KINDS]
    assert len(set(prefixes)) == len(prefixes)


def test_every_example_is_of_its_own_kind():
    for kind in KINDS:
        assert kind_of(kind.example)[0] is kind


def test_an_unknown_address_lists_what_there_is():
    with pytest.raises(InputError, match=r"openai:MODEL@URL.*replay:COLUMN.*'ftp://x'"):
        kind_of("ftp://x")


def test_a_client_is_made_from_its_target():
    def made(api):
        return client_of(ClientQuestion(api=api), columns=["new"])

    assert made("replay:new").description == {"kind": "replay", "column": "new"}
    with pytest.raises(InputError, match="replay:newer"):
        made("replay:newer")


def test_nothing_about_a_capability_is_known_here():
    """Clients stand below the capabilities: they may not import any."""
    from pathlib import Path

    import tallystick.clients

    for path in Path(tallystick.clients.__file__).parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for name in ("shift", "judge", "compare", "bound", "dynamic"):
            assert f"tallystick.{name}" not in text, path.name


@pytest.mark.parametrize("api", ["python:json:dumps", "command:cat", "replay:said"])
def test_a_prompt_for_a_client_that_gets_the_row_is_refused(api):
    with pytest.raises(InputError, match=r"gets the row itself"):
        client_of(ClientQuestion(api=api, prompt="Is it? {said}"), columns=["said"])
