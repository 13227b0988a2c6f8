from __future__ import annotations

import pytest

from tenue.engine.postgres import backend
from tenue.engine.postgres.backend import BACKEND
from tenue.engine.source.location import Server
from tenue.errors import Refused


def test_without_its_driver_nothing_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(backend, "import_module", none)
    server = Server("postgresql://127.0.0.1:1/x", ("t",))
    for use in (
        lambda: BACKEND.open_table(server),
        lambda: BACKEND.open_tally(server, 1),
        lambda: BACKEND.describe(server, values=False),
    ):
        with pytest.raises(Refused, match="psycopg"):
            use()
