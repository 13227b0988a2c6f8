"""Tables are known again: files, and tables in a server."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tenue.engine.fingerprint import InServer, Watched


def made(folder: Path) -> Path:
    path = folder / "t.csv"
    path.write_text("a\n1\n")
    return path


def keep_times(path: Path, before: os.stat_result) -> None:
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def rewrite(path: Path) -> None:
    before = path.stat()
    path.write_text("a\n2\n")
    keep_times(path, before)


def replace(path: Path) -> None:
    before = path.stat()
    other = path.with_name("other")
    other.write_text("a\n2\n")
    keep_times(other, before)
    other.replace(path)


def swap_and_swap_back(path: Path) -> None:
    aside = path.with_name("aside")
    path.rename(aside)
    aside.rename(path)


CHANGES: list[Callable[[Path], object]] = [
    lambda path: path.write_text("a\n1\n2\n"),
    lambda path: os.truncate(path, 2),
    Path.unlink,
    rewrite,
    replace,
    swap_and_swap_back,
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(tmp_path: Path, change: Callable[[Path], object]) -> None:
    path = made(tmp_path)
    watched = Watched([path])
    assert watched.unchanged()
    path.read_bytes()
    assert watched.unchanged(), "reading changes nothing"
    change(path)
    assert not watched.unchanged()


def test_a_file_that_appears_is_a_change(tmp_path: Path) -> None:
    path = made(tmp_path)
    watched = Watched([path, tmp_path / "t.wal"])
    assert watched.stamp().names == ("t.csv",)
    (tmp_path / "t.wal").write_text("")
    assert not watched.unchanged()


def test_a_stamp_knows_names_sizes_times_and_the_reading(tmp_path: Path) -> None:
    path = made(tmp_path)
    stamp = Watched([path]).stamp()
    assert (stamp.names, stamp.size) == (("t.csv",), 4)
    assert stamp.modified == path.stat().st_mtime_ns
    assert Watched([path]).stamp() == stamp
    other = Watched([path]).read_as("csv ;").stamp()
    assert (other.mark == stamp.mark, other.reading == stamp.reading) == (True, False)
    before = path.stat()
    path.rename(tmp_path / "u.csv")
    assert Watched([tmp_path / "u.csv"]).stamp().mark != stamp.mark
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "u.csv").rename(tmp_path / "elsewhere" / "t.csv")
    keep_times(tmp_path / "elsewhere" / "t.csv", before)
    assert Watched([tmp_path / "elsewhere" / "t.csv"]).stamp() == stamp, "folders do not count"


# -- server ----------------------------------------------------------------------------------------


def test_a_table_is_known_by_what_the_catalogue_says() -> None:
    said = ["1 2 public.t\nage integer"]
    mark = InServer('"public"."t"', lambda: said[0], "age number")
    stamp = mark.stamp()
    assert mark.unchanged()
    assert InServer('"public"."t"', lambda: said[0], "age number").stamp() == stamp
    assert InServer('"public"."t"', lambda: said[0], "age date").stamp().reading != stamp.reading
    said[0] = "1 3 public.t\nage integer"  # dropped, and made again
    assert not mark.unchanged()
    assert InServer('"public"."t"', lambda: said[0], "age number").stamp().mark != stamp.mark
    assert mark.digest() == stamp.mark
