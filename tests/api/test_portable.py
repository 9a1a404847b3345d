"""Nothing in the package needs POSIX: what Windows has not is tried, and there is another way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "tallystick"
MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "msvcrt", "winreg"}
CALLS = {
    *("os.fork", "os.forkpty", "os.mkfifo", "os.killpg", "os.setsid", "os.getuid", "os.geteuid"),
    *("os.getpgid", "os.chown", "os.getloadavg", "os.sched_getaffinity", "os.uname", "os.wait"),
    *("signal.SIGPIPE", "signal.SIGKILL", "signal.SIGHUP", "signal.SIGALRM", "signal.alarm"),
    *("signal.setitimer", "socket.AF_UNIX", "asyncio.create_unix_server"),
}


def needs(text: str) -> list[str]:
    """Return what of *text* only POSIX has, outside a try that catches its absence."""
    tree = ast.parse(text)
    tried = {
        id(one)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        and any(
            "ImportError" in ast.dump(h.type) or "AttributeError" in ast.dump(h.type)
            for h in node.handlers
            if h.type is not None
        )
        for part in node.body
        for one in ast.walk(part)
    }
    found = []
    for node in ast.walk(tree):
        if id(node) in tried:
            continue
        if isinstance(node, ast.Import):
            found += [one.name for one in node.names if one.name in MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = f"{node.value.id}.{node.attr}"
            found += [name] if name in CALLS else []
    return found


def test_no_module_needs_posix() -> None:
    found = {
        str(path.relative_to(SOURCE)): missing
        for path in sorted(SOURCE.rglob("*.py"))
        if (missing := needs(path.read_text(encoding="utf-8")))
    }
    assert not found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import fcntl", ["fcntl"]),
        ("try:\n    import fcntl\nexcept ImportError:\n    pass", []),
        ("import os\nos.mkfifo('x')", ["os.mkfifo"]),
        ("import os\nos.getpid()", []),
    ],
)
def test_the_check_sees_what_only_posix_has(text: str, expected: list[str]) -> None:
    assert needs(text) == expected
