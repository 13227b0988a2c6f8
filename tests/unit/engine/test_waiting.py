"""How long a server or a cluster is waited for is shown to whoever watches."""

from __future__ import annotations

import io
import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest

from postgres_server import Server
from tenue.engine import waiting as module
from tenue.engine.open import open_engine
from tenue.engine.postgres.engine import Postgres
from tenue.engine.spark.engine import Spark
from tenue.engine.sql_engine import Relational
from tenue.engine.waiting import waiting
from tenue.schema import Schema

pytestmark = pytest.mark.any_draw("draws nothing")


class Screen(io.StringIO):
    """A stream that somebody watches."""

    def isatty(self) -> bool:
        return True


def seen_by(stream: io.StringIO | None, monkeypatch: pytest.MonkeyPatch) -> None:
    # pytest puts a standard error of its own in place between a fixture and its test
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stream, modules={}))


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    made = Screen()
    seen_by(made, monkeypatch)
    monkeypatch.setattr(module, "AFTER", 0.05)
    monkeypatch.setattr(module, "EVERY", 0.02)
    return made


def test_seconds_are_shown_and_removed_at_the_end(screen: Screen) -> None:
    with waiting("Spark"):
        time.sleep(0.2)
        shown = screen.getvalue()
    assert re.fullmatch(r"(\rWaiting for Spark: 0 s)+", shown)
    lines = screen.getvalue().split("\r")
    assert lines[-1] == ""
    assert lines[-2].strip() == ""
    assert len(lines[-2]) == len(lines[1])
    assert not [one for one in threading.enumerate() if one.name.endswith("(_tell)")]


def test_nothing_is_said_at_once_or_of_nothing_or_to_nobody(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    with waiting("Spark"):
        pass
    with waiting(""):
        time.sleep(0.1)
    assert screen.getvalue() == ""
    for nobody in (io.StringIO(), None):
        seen_by(nobody, monkeypatch)
        with waiting("Spark"):
            time.sleep(0.1)
        assert nobody is None or nobody.getvalue() == ""


def test_a_failure_inside_is_the_caller_s_and_removes_the_line(screen: Screen) -> None:
    def fail() -> None:
        with waiting("Spark"):
            time.sleep(0.1)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert screen.getvalue().endswith(" \r")


def test_a_screen_that_has_gone_does_not_end_the_work(screen: Screen) -> None:
    with waiting("Spark"):
        screen.close()
        time.sleep(0.1)


def test_servers_and_clusters_are_waited_for_and_files_are_not() -> None:
    assert (Postgres.title, Spark.title, Relational.title) == ("PostgreSQL", "Spark", "")


@pytest.mark.needs("postgres")
def test_a_question_that_waits_for_a_server_says_so(
    postgres_server: Server, screen: Screen, tmp_path: Path
) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as owner:
        owner.execute("CREATE TABLE waits (x integer)")
    schema = Schema.from_dict(
        {
            "table": {"name": "waits", "unit": "record", "neighbours": "replace"},
            "columns": {"x": {"type": "number", "bounds": [0, 9]}},
        }
    )
    engine = open_engine(f"{postgres_server.address()}#waits", schema)
    assert isinstance(engine, Postgres)
    engine._run("SELECT pg_sleep(0.2)")
    engine.close()
    assert "Waiting for PostgreSQL: 0 s" in screen.getvalue()
