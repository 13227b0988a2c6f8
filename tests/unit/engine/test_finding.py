from __future__ import annotations

from tenue.engine.finding import Finding
from tenue.errors import refuse


def test_a_refusal_is_something_that_is_missing() -> None:
    refusal = refuse("engine.source-lacks-column", column="age")
    found = Finding.refused("columns", refusal)
    assert found.verdict == "missing"
    assert found.to_dict() == {
        "subject": "columns",
        "verdict": "missing",
        "what": refusal.what,
        "fix": refusal.fix,
    }
