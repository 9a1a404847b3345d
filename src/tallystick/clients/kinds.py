"""Every kind of client. A new one is one file and one entry here."""

from __future__ import annotations

from dataclasses import replace

from tallystick.clients import anthropic, command, http, openai, python, replay
from tallystick.clients.client import Client
from tallystick.clients.kind import ClientKind, ClientSpec
from tallystick.errors import InputError

__all__ = ["KINDS", "client_of", "kind_of"]

KINDS: tuple[ClientKind, ...] = (
    http.KIND,
    openai.KIND,
    anthropic.KIND,
    python.KIND,
    command.KIND,
    replay.KIND,
)
"""All kinds, in the order in which messages list them."""


def kind_of(api: str) -> tuple[ClientKind, str]:
    """Return the kind of an address, and its target.

    >>> kind, target = kind_of("openai:tiny@http://127.0.0.1/v1")
    >>> kind.prefixes, target
    (('openai:',), 'tiny@http://127.0.0.1/v1')
    """
    for kind in KINDS:
        for prefix in kind.prefixes:
            if api.startswith(prefix):
                return kind, api if kind.keeps_prefix else api.removeprefix(prefix)
    raise InputError(
        f"api (--api) must look like {', '.join(kind.example for kind in KINDS)}; got {api!r}"
    )


def client_of(api: str, spec: ClientSpec) -> Client:
    """Make the client that *api* names.

    Parameters
    ----------
    api
        An address such as ``https://…``, ``openai:MODEL@URL`` or ``replay:COLUMN``.
    spec
        Everything else that the user said; its target is taken from *api*.

    Examples
    --------
    >>> client_of("replay:new", ClientSpec(target="", columns=["new"])).description
    {'kind': 'replay', 'column': 'new'}
    """
    kind, target = kind_of(api)
    if not kind.prompts and (spec.prompt is not None or spec.chat.system is not None):
        raise InputError(
            f"{kind.prefixes[0]} gets the row itself, so a prompt (--prompt, --system-prompt) has"
            " no effect there: leave it out; --request is the template of an https: address"
        )
    return kind.make(replace(spec, target=target))
