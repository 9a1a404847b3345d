"""Write sessions in processes that die at a chosen write, and go on with them.

    python session_kills.py FOLDER PART CALL…

Each run is a real process that really dies: a fork of this one, which has loaded the module. PART
says how much of write number CALL is done: a share, ``written`` or ``synced``. Prints, for each
CALL, how the process left and what it had acknowledged; the file as the dead process left it is
FOLDER/CALL.killed, and the one that a second run went on with FOLDER/CALL.label."""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

from tallystick.table.session import SessionFile

ANSWERS = 6
real_write, real_sync = os.write, os.fsync


def answer_all(path: Path, call: int, part: str) -> None:
    """Answer what is left, acknowledging each; die at write number *call*."""
    writes = 0

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def write(handle: int, data: bytes) -> int:
        nonlocal writes
        writes += 1
        if writes == call and part != "synced":
            real_write(handle, data if part == "written" else data[: int(len(data) * float(part))])
            die()
        return real_write(handle, data)

    def sync(handle: int) -> None:
        real_sync(handle)
        if writes == call and part == "synced":
            die()

    os.write, os.fsync = write, sync
    with SessionFile(path, {"question": "judge"}) as file:
        for k in range(len(file.events) - 1, ANSWERS):
            file.append([{"answer": k}])
            real_write(1, f"{k} ".encode())


def in_a_fork(path: Path, call: int, part: str) -> tuple[int, list[int]]:
    """Return how the process left, and the answers that it acknowledged."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.dup2(into, 1)
            answer_all(path, call, part)
            code = 0
        finally:
            os._exit(code)
    os.close(into)
    with os.fdopen(out) as said:
        acknowledged = [int(word) for word in said.read().split()]
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), acknowledged


def main(folder: Path, part: str, calls: list[int]) -> None:
    report = {}
    for call in calls:
        path = folder / f"{call}.label"
        left, acknowledged = in_a_fork(path, call, part)
        shutil.copy(path, path.with_suffix(".killed"))
        again, _ = in_a_fork(path, 99, part)
        report[call] = {"left": left, "acknowledged": acknowledged, "again": again}
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [int(word) for word in sys.argv[3:]])
