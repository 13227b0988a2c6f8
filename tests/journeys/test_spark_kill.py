"""A machine of the cluster goes down in the middle of a question: right, or refused cleanly.

The ledger shows one price for one key, and nothing is drawn for it again. What the cluster wrote
down has no value of a row.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark_cluster import Connect, Machines

pytestmark = [
    pytest.mark.needs("spark"),
    pytest.mark.slow,
    pytest.mark.any_draw("with epsilon 1000 every draw of noise is 0, whatever rows are kept"),
]
TESTS = Path(__file__).parents[1]
FAULT = "EngineFault: the engine did not answer"
PERSONS, EACH, LIMIT = 60, 6, 2


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    made = Machines(tmp_path_factory.mktemp("cluster"))
    yield made
    made.remove()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("rows")
    rows = {"who": [f"canary-{i // 3}" for i in range(90)], "x": [900 + i for i in range(90)]}
    pq.write_table(pa.table(rows), made / "small.parquet")
    return made


def driver(*words: str) -> subprocess.Popen[str]:
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)]),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    return subprocess.Popen(
        [sys.executable, str(TESTS / "spark_driver.py"), *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed(
    machines: Machines,
    act: str,
    folder: Path,
    *words: str,
    address: str = "",
    worker: str = "first",
    anew: bool = True,
) -> tuple[list[dict[str, Any]], str]:
    """What a driver says one worker of which is killed when it says so, and started again."""
    (folder / "killed").unlink(missing_ok=True)
    working = driver(act, address or machines.address, str(folder), *words)
    found: list[dict[str, Any]] = []
    stop = threading.Timer(400, working.kill)
    stop.start()
    try:
        assert working.stdout is not None
        for line in working.stdout:
            found.append(json.loads(line))
            if "ready" in found[-1]:
                machines.kill(worker)
                (folder / "killed").touch()
                if anew:
                    machines.start(worker)
        _, errors = working.communicate()
    finally:
        stop.cancel()
        working.kill()
    return found, errors


@pytest.mark.parametrize(
    ("kind", "stage"), [("record", 1), ("who", 1), ("who", 2)], ids=["rows", "reading", "choosing"]
)
def test_a_worker_is_killed_during_a_question(
    machines: Machines, folder: Path, kind: str, stage: int
) -> None:
    (ready, told, last), errors = killed(machines, "ask", folder, kind, str(stage))
    whole = PERSONS * EACH if kind == "record" else PERSONS * LIMIT
    assert "ready" in ready
    assert told["killed"], "before the answer came"
    assert told["outcome"] in (whole, FAULT), errors[-2000:]
    assert told["spent"] == 1000, "one price for one key"
    if told["outcome"] == whole:
        assert told["again"] == whole, "the stored answer"
    else:
        assert FAULT != told["again"] != whole, "paid for, and never drawn again"
    assert last == {"other": whole, "spent": 1999, "whole": True}


@pytest.mark.parametrize(("method", "stage"), [("swap", 30), ("private", 3)])
def test_a_worker_is_killed_during_a_release(
    machines: Machines, folder: Path, method: str, stage: int
) -> None:
    """All files of it or none, one price, and one entry of what left."""
    said, errors = killed(machines, "release", folder, method, str(stage))
    told = [one for one in said if "outcome" in one]
    assert len(told) == 2, errors[-2000:]
    assert any("ready" in one for one in said)
    assert told[0]["killed"], "before it came"
    price = 1000 if method == "private" else 0
    left = 0
    for name, one in zip(("first", "again"), told, strict=True):
        out = folder / f"{method}{stage}-{name}"
        assert one["whole"]
        if one["outcome"] == "released":
            left += 1
            complete(out, swapped=method == "swap")
        else:
            assert not out.exists()
        assert one["releases"] == (left if method == "swap" else 0)
    assert told[0]["outcome"] in ("released", FAULT), errors[-2000:]
    assert told[0]["spent"] == price, "one price, whether it came or not"
    assert told[1]["spent"] == 2 * price
    if method == "private" or told[0]["outcome"] == FAULT:
        assert told[1]["outcome"] == "released"
    else:
        assert "released" in told[1]["outcome"] != "released", "refused as a second one"
    hidden = [one.name for one in folder.iterdir() if one.name.startswith(".")]
    assert hidden == [], "nothing half-written"


def complete(out: Path, *, swapped: bool) -> None:
    """Every file is what the manifest names, and every row is there."""
    manifest = json.loads((out / "manifest.json").read_text())
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    parts = sorted(out.glob("table*.parquet"))
    values = [x for part in parts for x in pq.ParquetFile(part).read()["x"].to_pylist()]
    assert len(values) == PERSONS * EACH
    if swapped:
        assert sorted(values) == sorted(i % 7 for i in range(PERSONS * EACH))


def test_no_log_has_a_value_of_a_row(machines: Machines, folder: Path) -> None:
    asking = driver("fail", machines.address, str(folder))
    written, errors = asking.communicate(timeout=300)
    (found,) = map(json.loads, written.splitlines())
    first, second, third = found["outcomes"]
    assert (first, second) == (FAULT, FAULT)
    assert isinstance(third, float | int)
    logs = machines.logs()
    assert "Registering worker" in logs, "they are written down"
    for place in (written, errors, logs):
        assert "canary" not in place


def test_a_cluster_without_a_free_processor_is_not_waited_for(tmp_path: Path, folder: Path) -> None:
    alone = Machines(tmp_path, workers=())
    try:
        asking = driver("open", alone.address, str(folder))
        written, _ = asking.communicate(timeout=240)
    finally:
        asking.kill()
        alone.remove()
    assert "did nothing in 5 seconds" in json.loads(written)["outcome"]


def test_a_question_ends_when_no_machine_is_left(tmp_path: Path, folder: Path) -> None:
    alone = Machines(tmp_path, workers=("only",))
    try:
        found, errors = killed(alone, "soon", folder, worker="only", anew=False)
    finally:
        alone.remove()
    assert [told.get("outcome") for told in found] == [None, FAULT], errors[-2000:]
    assert found[-1]["killed"]
    assert found[-1]["spent"] == 1000, "what was paid stays paid"


def test_a_question_by_spark_connect_ends_when_no_machine_is_left(
    tmp_path: Path, folder: Path
) -> None:
    alone = Machines(tmp_path, workers=("only",))
    server = Connect(tmp_path, master=alone.address)
    there = server.address
    try:
        found, errors = killed(alone, "soon", folder, address=there, worker="only", anew=False)
    finally:
        server.remove()
        alone.remove()
    assert [told.get("outcome") for told in found] == [None, FAULT], errors[-2000:]
    assert found[-1]["killed"]
    assert found[-1]["spent"] == 1000, "what was paid stays paid"


@pytest.mark.parametrize(("method", "stage", "price"), [("swap", 5, 0), ("private", 5, 1000)])
def test_a_release_is_refused_when_no_machine_is_left(
    tmp_path: Path, folder: Path, method: str, stage: int, price: int
) -> None:
    alone = Machines(tmp_path, workers=("only",))
    words = (method, str(stage))
    try:
        found, errors = killed(alone, "release-soon", folder, *words, worker="only", anew=False)
    finally:
        alone.remove()
    assert "outcome" in found[-1], errors[-2000:]
    told = found[-1]
    assert told == {
        "outcome": FAULT,
        "killed": True,
        "spent": price,
        "releases": 0,
        "whole": True,
    }, errors[-2000:]
    half = [one.name for one in folder.iterdir() if f"{method}{stage}-first" in one.name]
    assert half == [], "nothing half-written"
