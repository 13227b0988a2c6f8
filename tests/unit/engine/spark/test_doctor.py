from __future__ import annotations

import pytest

from tenue.engine.doctor import diagnose
from tenue.engine.source.location import Cluster

pytestmark = [pytest.mark.needs("spark"), pytest.mark.slow]


def test_a_cluster_that_is_away_is_named() -> None:
    from tenue.engine.spark.doctor import examine

    (away,) = examine(Cluster("spark://127.0.0.1:1", ("t",)))
    assert (away.subject, away.verdict) == ("cluster", "missing")
    found = diagnose("sc://127.0.0.1:1#t")
    assert [one.subject for one in found] == ["source", "driver", "cluster"]
