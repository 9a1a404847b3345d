"""Who comes in without a key: nobody behind a proxy, nobody after the first admin key.

nginx and Caddy are real processes on loopback, with the blocks of docs/operate.md.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

pytest.importorskip("starlette", reason="the extra serve is not installed")
pytest.importorskip("uvicorn", reason="the extra serve is not installed")

from tests.serve.web import Running, running

ROOT = Path(__file__).resolve().parents[2]
PEM = ROOT / "tests/clients/localhost.pem"
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
CADDY = shutil.which("caddy")
needs_nginx = pytest.mark.skipif(
    NGINX is None, reason="no nginx on this machine (on Debian: apt-get install nginx-light)"
)
needs_caddy = pytest.mark.skipif(
    CADDY is None, reason="no Caddy on this machine (on Debian: apt-get install caddy)"
)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def docs_block(language: str) -> str:
    """Return the block of the operator's page."""
    text = (ROOT / "docs/operate.md").read_text(encoding="utf-8")
    [block] = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return str(block)


@contextlib.contextmanager
def process(*words: str, port: int, env: dict[str, str] | None = None) -> Iterator[None]:
    """Run a proxy until the block ends; it listens on a port of loopback."""
    with subprocess.Popen(
        words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env={**os.environ, **(env or {})}
    ) as proxy:
        try:
            for _ in range(1_200):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                assert proxy.poll() is None, proxy.stderr and proxy.stderr.read()
                time.sleep(0.05)
            else:
                pytest.fail("the proxy does not listen")
            yield
        finally:
            proxy.terminate()
            proxy.communicate(timeout=30)


@contextlib.contextmanager
def nginx(folder: Path, server: str, *, port: int, user: str = "") -> Iterator[None]:
    """Run nginx with one server block; it drops to its own user unless one is given."""
    folder.mkdir()
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off; pid {folder}/pid; error_log stderr crit; {user}\nevents {{}}\n"
        f"http {{ access_log off; {places}\n{server}\n}}\n"
    )
    with process(str(NGINX), "-p", str(folder), "-c", str(config), port=port):
        yield


def plain(port: int, address: str, *more: str) -> str:
    """The block that people write first."""
    rest = " ".join(more)
    return f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {address}; {rest} }} }}"


def statuses_without_a_key(
    base: str, *hosts: str, verify: bool | ssl.SSLContext = True
) -> dict[str, int]:
    """Try what only an admin may do, without a key, under names from outside and of loopback."""
    found = {}
    for host in hosts or ("tally.example", "localhost"):
        with httpx.Client(base_url=base, headers={"Host": host}, verify=verify) as client:
            order = {"role": "admin", "name": "evil"}
            found[f"list {host}"] = client.get("/v1/keys").status_code
            found[f"make {host}"] = client.post("/v1/keys", json=order).status_code
            found[f"delete {host}"] = client.delete("/v1/streams/b").status_code
            found[f"page {host}"] = client.get("/settings").status_code
    return found


def make_key(folder: Path, role: str = "admin") -> str:
    words = ["serve", "key", role, "--data", str(folder)]
    ran = subprocess.run(
        [sys.executable, "-m", "tallystick", *words], capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


@pytest.fixture(scope="module")
def open_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service on loopback that has no key yet, with a stream b."""
    with running(tmp_path_factory.mktemp("open")) as server:
        httpx.put(f"{server.address}/v1/streams/b", json={}).raise_for_status()
        yield server


@needs_nginx
def test_plain_nginx_before_loopback_lets_nobody_in_without_a_key(
    open_service: Running, tmp_path: Path
) -> None:
    port = free_port()
    with nginx(tmp_path / "nginx", plain(port, open_service.address), port=port):
        found = statuses_without_a_key(f"http://127.0.0.1:{port}")
    assert set(found.values()) == {401}, found
    assert httpx.get(f"{open_service.address}/v1/streams/b").status_code == 200


@needs_nginx
@pytest.mark.skipif(os.geteuid() != 0, reason="nginx drops to a user of its own only as root")
def test_nginx_that_shows_no_sign_but_its_user_lets_nobody_in_without_a_key(
    open_service: Running, tmp_path: Path
) -> None:
    # What nginx does by itself from 1.29.7 on: HTTP/1.1, no header of its own.
    newer = ("proxy_http_version 1.1;", 'proxy_set_header Connection "";')
    port = free_port()
    with nginx(tmp_path / "nginx", plain(port, open_service.address, *newer), port=port):
        found = statuses_without_a_key(f"http://127.0.0.1:{port}")
    assert set(found.values()) == {401}, found


@needs_nginx
def test_plain_nginx_before_all_addresses_lets_nobody_in_but_the_key_that_was_printed(
    tmp_path: Path,
) -> None:
    port = free_port()
    with running(tmp_path / "data", "--host", "0.0.0.0") as server:
        address = server.address.replace("0.0.0.0", "127.0.0.1")
        direct = statuses_without_a_key(address)
        assert set(direct.values()) == {401}, direct
        with nginx(tmp_path / "nginx", plain(port, address), port=port):
            base = f"http://127.0.0.1:{port}"
            found = statuses_without_a_key(base)
            assert set(found.values()) == {401}, found
            shown = re.search(r"shown once: (ts_\S+)", server.said)
            assert shown is not None, server.said
            key = {"Authorization": f"Bearer {shown[1]}"}
            assert httpx.get(f"{base}/v1/keys", headers=key).status_code == 200


@contextlib.contextmanager
def nginx_of_the_docs(folder: Path, address: str) -> Iterator[tuple[str, Path]]:
    port = free_port()
    block = docs_block("nginx")
    for old, new in (
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("/etc/ssl/tally.example.com.pem", str(PEM)),
        ("/etc/ssl/tally.example.com.key", str(PEM)),
        ("http://127.0.0.1:8765", address),
    ):
        assert block.count(old) == 1, old
        block = block.replace(old, new)
    # Bodies are put into files of the test's folder, which another user could not reach.
    user = "user root;" if os.geteuid() == 0 else ""
    with nginx(folder, block, port=port, user=user):
        yield f"https://localhost:{port}", PEM


@contextlib.contextmanager
def caddy_of_the_docs(folder: Path, address: str) -> Iterator[tuple[str, Path]]:
    port = free_port()
    block = docs_block("caddy")
    for old, new in (
        ("tally.example.com", f"localhost:{port}"),  # a name for which it signs itself
        ("127.0.0.1:8765", address.removeprefix("http://")),
    ):
        assert block.count(old) == 1, old
        block = block.replace(old, new)
    folder.mkdir()
    config = folder / "Caddyfile"
    quiet = "admin off\nskip_install_trust\nauto_https disable_redirects\ndefault_bind 127.0.0.1\n"
    config.write_text(f"{{\n{quiet}}}\n{block}")
    home = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
    words = (str(CADDY), "run", "--adapter", "caddyfile", "--config", str(config))
    with process(*words, port=port, env=home):
        authority = folder / "caddy/pki/authorities/local/root.crt"
        until_it_signs(authority, port)
        yield f"https://localhost:{port}", authority


def until_it_signs(authority: Path, port: int) -> None:
    """Wait until Caddy, which listens before it has a certificate, shows one."""
    for _ in range(1_200):
        with (
            contextlib.suppress(OSError),  # no file yet, or no certificate for the name
            socket.create_connection(("127.0.0.1", port)) as plain,
            ssl.create_default_context(cafile=authority).wrap_socket(
                plain, server_hostname="localhost"
            ),
        ):
            return
        time.sleep(0.05)
    pytest.fail("Caddy has no certificate")


@pytest.mark.parametrize(
    "proxy",
    [
        pytest.param(nginx_of_the_docs, marks=needs_nginx, id="nginx"),
        pytest.param(caddy_of_the_docs, marks=needs_caddy, id="caddy"),
    ],
)
def test_the_block_of_the_docs_works_and_lets_nobody_in_without_a_key(
    proxy: object, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    with running(folder) as server, proxy(tmp_path / "proxy", server.address) as (base, authority):  # type: ignore[operator]
        trusted = ssl.create_default_context(cafile=authority)
        found = statuses_without_a_key(base, "localhost", verify=trusted)
        assert set(found.values()) == {401}, found

        key = make_key(folder)
        with httpx.Client(base_url=base, verify=trusted, timeout=30) as client:
            bearer = {"Authorization": f"Bearer {key}"}
            assert client.put("/v1/streams/qa", json={}, headers=bearer).status_code == 200
            records = [{"item": f"{n:0256d}", "votes": {"a": "x"}} for n in range(8_000)]
            taken = client.post("/v1/streams/qa/records", json=records, headers=bearer)
            assert taken.status_code == 200, taken.text  # of 2 MB

            # A browser on plain HTTP says where a form comes from only by its Origin.
            own = {"Origin": base}
            entered = client.post("/login", data={"key": key}, headers=own)
            assert entered.status_code == 303, entered.text
            page = client.get("/settings")
            assert page.status_code == 200
            token = re.search(r'name="csrf" value="([^"]+)"', page.text)
            assert token is not None
            form = {"csrf": token[1], "role": "read", "name": "ann"}
            assert client.post("/settings/keys", data=form, headers=own).status_code == 200


def raw(address: str, *lines: str) -> int:
    """Send a request as it stands and return the status of the answer."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as one:
        one.sendall("\r\n".join([*lines, "", ""]).encode())
        answer = one.makefile("rb").readline().split()
    return int(answer[1])


def test_a_request_of_an_old_proxy_needs_a_key(open_service: Running) -> None:
    # test_auth.py has the headers by which newer ones are known.
    for more in ((), ("Host: 127.0.0.1",)):
        assert raw(open_service.address, "GET /v1/keys HTTP/1.0", *more) == 401
    own = ("Host: 127.0.0.1", "Origin: http://127.0.0.1")
    assert raw(open_service.address, "GET /v1/keys HTTP/1.1", *own) == 200


def test_the_first_admin_key_ends_access_without_one_at_once_and_for_good(tmp_path: Path) -> None:
    with running(tmp_path) as server, httpx.Client(base_url=server.address) as local:
        make_key(tmp_path, "write")
        assert local.get("/settings").status_code == 200  # with a cookie for its forms from now on
        key = make_key(tmp_path)  # by another process
        for path in ("/v1/keys", "/settings"):
            assert local.get(path).status_code == 401
        assert local.get("/readyz").status_code == 200
        bearer = {"Authorization": f"Bearer {key}"}
        revoke = local.delete(f"/v1/keys/{key.split('_')[1]}", headers=bearer)
        assert revoke.status_code == 200
        assert local.get("/v1/keys").status_code == 401
    with running(tmp_path) as server:
        assert httpx.get(f"{server.address}/v1/keys").status_code == 401
