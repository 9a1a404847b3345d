import pytest

from tallystick.clients import ClientQuestion, client_of
from tallystick.errors import InputError


def test_an_unknown_address_lists_what_there_is():
    with pytest.raises(InputError, match=r"openai:MODEL@URL.*replay:COLUMN.*'ftp://x'"):
        client_of(ClientQuestion(api="ftp://x"))


def test_a_client_is_made_from_its_target():
    def made(api):
        return client_of(ClientQuestion(api=api), columns=["new"])

    assert made("replay:new").description == {"kind": "replay", "column": "new"}
    with pytest.raises(InputError, match="replay:newer"):
        made("replay:newer")


@pytest.mark.parametrize("api", ["python:json:dumps", "command:cat", "replay:said"])
def test_a_prompt_for_a_client_that_gets_the_row_is_refused(api):
    with pytest.raises(InputError, match=r"gets the row itself"):
        client_of(ClientQuestion(api=api, prompt="Is it? {said}"), columns=["said"])
