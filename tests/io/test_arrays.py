from __future__ import annotations

import subprocess
import sys

import pytest

from tallystick.errors import InputError
from tallystick.table import Door, Tally, read


@pytest.mark.parametrize("verb", ["judge", "compare"])
def test_a_verdict_from_a_file_does_not_wake_pandas(tmp_path, verb):
    table = tmp_path / "votes.csv"
    rows = [f"{i},{i % 2},{int(i % 3 > 0)},{int(i % 5 > 1)}" for i in range(60)]
    table.write_text("item,a,b,c\n" + "\n".join(rows) + "\n")
    program = (
        "import sys; from tallystick.cli import main\n"
        f"try: main([{verb!r}, {str(table)!r}])\n"
        "except SystemExit: pass\n"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_list_of_objects_is_a_table_whose_late_keys_are_blank_before():
    rows = [{"id": k, "gpt": k % 2, "more": {"by": "ann"}} for k in range(4)] + [
        {"id": 4, "x": "a"}
    ]
    with read(rows, Door()) as data:
        assert data.table.query('select id, gpt, x, "more.by" from rows where id > 2') == [
            (3, 1, None, "ann"),
            (4, None, "a", None),
        ]
    assert Tally.of([{"gpt": 1}, {"gpt": 0}, {}]).labels == {"gpt": (0, 1, None)}
    with pytest.raises(InputError, match="row 2 of the list is 7, and no object"):
        Tally.of([{"gpt": 1}, 7])
