"""What Spark sorts for a question lies where nobody else can read it, and is swept away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]

ASKING = """
    import sys
    import tenue as tn

    schema = {
        "table": {
            "name": "visits", "source": "spark://local#" + sys.argv[1],
            "unit": "who", "neighbours": "add-or-remove", "rows_per_unit": 2,
        },
        "columns": {"who": {"type": "identifier"}, "age": {"type": "number", "bounds": [0, 99]}},
        "budget": {"total": 100},
    }
    for _ in range(2):  # the second opening finds the Spark of the first
        with tn.protect(schema=schema, ledger=tn.ledger.Memory()) as data:
            data.ask("SELECT SUM(age) FROM visits", epsilon=1)

    print("asked", flush=True)
    sys.stdin.read()
"""


@pytest.mark.any_draw("modes of files do not depend on what is drawn")
def test_only_the_owner_reads_what_was_sorted(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"who": [f"canary {i % 50}" for i in range(500)], "age": range(500)}),
        tmp_path / "visits.parquet",
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    asking = subprocess.Popen(
        [sys.executable, "-c", dedent(ASKING), str(tmp_path / "visits.parquet")],
        env=os.environ | {"TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert asking.stdout is not None
    try:
        assert asking.stdout.readline() == b"asked\n"
        (folder,) = {one.parents[2] for one in temporary.rglob("shuffle_*.data")}
        assert folder.parent == temporary, "here lie the rows that were sorted"
        assert folder.stat().st_mode & 0o077 == 0
    finally:
        os.killpg(asking.pid, signal.SIGKILL)  # Python and Java at once: nobody tidies up
        _, said = asking.communicate()
    assert said == b"", "Spark writes nothing on the screen of whoever asks"
    assert folder.exists(), "what a killed process leaves"
    sweep = "from tenue.engine.scratch import Scratch; Scratch().close()"
    end = time.monotonic() + 60
    while folder.exists() and time.monotonic() < end:
        subprocess.run(
            [sys.executable, "-c", sweep], env=os.environ | {"TMPDIR": str(temporary)}, check=True
        )
    assert not list(temporary.iterdir()), "the next process of the same user removes it"
