"""kill -9 while a release is saved with its report: all files or none, and none unregistered."""

from __future__ import annotations

import hashlib
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tenue.ledger import SQLite

pytestmark = [
    pytest.mark.slow,
    pytest.mark.any_draw("processes are killed at given steps, whatever they drew"),
]

CHILD = """
import os, signal, sys
import pyarrow as pa
import tenue as tn

folder, step, public = sys.argv[1], sys.argv[2], sys.argv[3] == "public"
town = pa.table({"age": [20 + i % 7 for i in range(40)], "ill": ["flu", "no"] * 20})
schema = {
    "table": {"name": "town", "unit": "record", "neighbours": "replace"},
    "columns": {
        "age": {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"},
        "ill": {"type": "category", "categories": ["flu", "no"], "role": "confidential"},
    },
}
release = tn.publish(
    town, schema=tn.Schema.from_dict(schema), method="anatomy", k=4, ledger=folder + "/a.ledger"
)


def watch(event, given):
    # what is about to happen, never does
    name = "" if not given else os.path.basename(str(given[0]))
    if (event, name) == ("open", step) or (event == step and "out" in str(given[0])):
        os.kill(os.getpid(), signal.SIGKILL)


sys.addaudithook(watch)
release.save(folder + "/out", public=public)
if step == "saved":
    os.kill(os.getpid(), signal.SIGKILL)
"""
STEPS = ["certificate.json", "report.html", "manifest.json", "os.chmod", "os.rename", "saved"]


@pytest.mark.parametrize("public", ["public", "holder"])
@pytest.mark.parametrize("step", STEPS)
def test_all_files_or_none(step: str, public: str, tmp_path: Path) -> None:
    asked = [sys.executable, "-c", CHILD, str(tmp_path), step, public]
    done = subprocess.run(asked, check=False, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    out = tmp_path / "out"
    assert out.exists() == (step == "saved")
    drafts = [path for path in tmp_path.iterdir() if path.name.startswith(".out.")]
    assert all(path.stat().st_mode & 0o077 == 0 for path in drafts if step != "os.rename")
    with SQLite(tmp_path / "a.ledger") as ledger:
        known = ledger.balance("town").releases if "town" in ledger.datasets() else 0
        assert ledger.verify()
    # registered before it gets its name, and not before its files are whole
    assert known == (step in ("os.chmod", "os.rename", "saved"))
    if step == "saved":
        manifest = json.loads((out / "manifest.json").read_text())
        listed = {*manifest["files"], *manifest.get("for_the_holder", [])}
        assert {path.name for path in out.iterdir()} == {*listed, "manifest.json"}
        assert ("report.html" in manifest["files"]) == (public == "public")
        for name, digest in manifest["files"].items():
            assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
