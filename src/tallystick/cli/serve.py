"""``tallystick serve``: the service, its keys and its self-check."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from tallystick.cli.app import OWN
from tallystick.cli.deliver import Delivery, tell
from tallystick.errors import MissingExtra
from tallystick.table import options_of

_HELP = {"help_option_names": ["-h", "--help"]}


def _place(command: Any) -> Any:
    """Add the options that say where everything is kept."""
    for option in (
        click.option(
            "--db",
            envvar="TALLYSTICK_DB",
            metavar="URL",
            help="PostgreSQL database (postgresql://…) to use instead of a file in the folder.",
        ),
        click.option(
            "--data",
            "folder",
            type=click.Path(path_type=Path, file_okay=False),
            default=Path("tallystick-data"),
            show_default=True,
            help="Folder where everything is kept.",
        ),
    ):
        command = option(command)
    return command


@click.group(
    "serve",
    invoke_without_command=True,
    context_settings=_HELP,
    help=OWN["serve"][1],
)
@_place
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8765,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 picks a free one.",
)
@click.option(
    "--durability",
    type=click.Choice(("full", "normal")),
    default="full",
    show_default=True,
    help="SQLite only. full survives a power cut; normal survives a killed process and is faster.",
)
@click.option(
    "--allow-host",
    "allow_hosts",
    multiple=True,
    metavar="HOST",
    help="Internal host that the webhook may call; repeat for more.",
)
@click.pass_context
def serve(context: click.Context, /, **given: Any) -> None:
    """Serve until interrupted."""
    context.ensure_object(dict)
    if context.invoked_subcommand is not None:
        return
    try:
        from tallystick.serve.app import address_of, serve_forever, start_service
        from tallystick.serve.jobs import Config
    except ImportError as error:
        raise MissingExtra(error.name or "starlette", "serve") from error
    config = Config(
        host=given["host"],
        port=given["port"],
        folder=given["folder"].resolve(),
        allow_hosts=given["allow_hosts"],
    )
    address = address_of(config.folder or Path(), given["db"])
    service = start_service(config, address, durability=given["durability"])
    serve_forever(service, say=lambda line: tell([line]))


def _store(folder: Path, db: str | None, *, kept: bool = False) -> Any:
    """Open the store; *kept* makes and changes nothing, and refuses where there is none."""
    try:
        from tallystick.serve.app import address_of
        from tallystick.serve.database import open_kept, open_store
    except ImportError as error:
        raise MissingExtra(error.name or "msgspec", "serve") from error
    return (open_kept if kept else open_store)(address_of(folder, db))


@serve.command("key", context_settings=_HELP)
@_place
@click.argument("role", type=click.Choice(("read", "write", "label", "admin")))
@click.argument("name", default="")
def key(folder: Path, db: str | None, role: str, name: str) -> None:
    """Make a key that may do what ROLE says and print it; it cannot be shown again.

    Labels made with it carry NAME.
    """
    store = _store(folder, db)
    try:
        from tallystick.serve.auth import make_key

        with store.write() as transaction:
            made = make_key(transaction, role=role, name=name or role)
    finally:
        store.close()
    click.echo(made)


@serve.command("check", context_settings=_HELP)
@_place
@click.option("--json", "as_json", is_flag=True, help=options_of(Delivery)["as_json"].help)
def check(folder: Path, db: str | None, as_json: bool) -> None:
    """Prove the rows from the batches and the counts from the rows; exit with 1 if they differ."""
    store = _store(folder, db, kept=True)
    try:
        from tallystick.serve.client import check_store

        found = check_store(store)
    finally:
        store.close()
    wrong = sum(len(one.problems) for one in found)
    if as_json:
        streams = [dataclasses.asdict(one) for one in found]
        click.echo(json.dumps({"ok": not wrong, "streams": streams}, ensure_ascii=False))
    elif not found:
        click.echo("The database is whole and holds no stream.")
    for one in found if not as_json else ():
        words = "all agree" if not one.problems else f"{len(one.problems)} problems"
        click.echo(f"{one.stream}: {one.rows:,} rows, {one.replayed:,} batches replayed, {words}")
        for problem in one.problems:
            click.echo(f"  {problem}")
    if wrong:
        raise SystemExit(1)
