from __future__ import annotations

import pytest

from tenue.engine.source.location import Cluster, Distributed
from tenue.engine.spark import backend
from tenue.engine.spark.backend import BACKEND
from tenue.errors import Refused


def test_without_its_driver_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(backend, "import_module", none)
    cluster = Cluster("spark://host:7077", ("t",))
    for use in (
        lambda: BACKEND.open_table(cluster),
        lambda: BACKEND.open_tally(cluster, 1),
        lambda: BACKEND.describe(cluster, values=False),
    ):
        with pytest.raises(Refused, match="pyspark"):
            use()


def test_a_data_frame_of_spark_is_there() -> None:
    assert list(BACKEND.examine(Distributed(None))) == []
