"""What a table in Spark lacks before it can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ...errors import Refused
from ..finding import Finding
from ..source.location import Cluster
from .session import FREE, Session, quiet
from .watch import watched
from .workers import by_value, equipped

_PYTHON = "Install numpy and pyarrow for the Python of every machine of the cluster, the one that "
_PYTHON += "PYSPARK_PYTHON names there; its version is that of this machine"
_RELEASES = ": questions are answered, and tables larger than memory cannot be published"


def examine(source: Cluster) -> Iterator[Finding]:
    """Cluster, table and the Python of its machines; no row is read."""
    try:
        session = Session(source)
    except Refused as refusal:
        yield Finding.refused("cluster", refusal)
        return
    try:
        yield Finding("cluster", "fine", f"Spark {session.version}")
        yield Finding("table", "fine", f"It has {len(session.columns)} columns")
        found = _versions(session)
    finally:
        session.close()
    if found is None:
        yield Finding("machines", "missing", "Python functions do not run on the cluster", _PYTHON)
    else:
        yield Finding("machines", "fine", found + (_RELEASES if "without" in found else ""))


def chooses(session: Session) -> bool:
    """Whether the machines can choose rows of persons."""
    return _versions(session) is not None


def _versions(session: Session) -> str | None:
    """What a machine of the cluster has; None if Python with numpy and pyarrow does not run."""
    with quiet(), suppress(Exception):
        one = session.of("SELECT 1 AS one").mapInArrow(by_value(equipped), "found string")
        with watched(one.sparkSession, FREE):
            ((words,),) = one.collect()
        return str(words)
    return None
