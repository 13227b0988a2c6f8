from __future__ import annotations

import sys

import pytest

from postgres_server import Server
from tenue.errors import InvalidArgument, LedgerFault
from tenue.ledger import Memory, Postgres
from tenue.ledger.given import NOWHERE, Place, given_ledger, open_ledger


def test_without_psycopg_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("tenue.ledger.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InvalidArgument, match=r"tenue\[postgres\]"):
        open_ledger("postgresql://db/books")


@pytest.mark.needs("postgres")
def test_an_address_is_a_ledger_wherever_one_is_given(postgres_server: Server) -> None:
    address = postgres_server.address(schema="given")
    for given, place in ((address, NOWHERE), (None, Place(named=address))):
        with given_ledger(given, place) as ledger:
            assert isinstance(ledger, Postgres)
            assert ledger.address == address
            assert ledger.path is None


@pytest.mark.needs("postgres")
def test_an_old_copy_is_seen_with_an_anchor(postgres_server: Server, tmp_path: object) -> None:
    anchor = f"{tmp_path}/elsewhere.anchor"
    with Postgres(postgres_server.address(schema="anchored"), anchor=anchor) as ledger:
        ledger.open_dataset("census", total=1, neighbours="replace")
        ledger.anchor(anchor)
    Postgres(postgres_server.address(schema="anchored"), anchor=anchor).close()
    with pytest.raises(LedgerFault):
        Postgres(postgres_server.address(schema="emptied"), anchor=anchor)


def test_a_schema_names_an_address_as_it_names_a_file() -> None:
    import tenue as tn

    schema = tn.Schema.from_dict(
        {
            "table": {
                "name": "t",
                "unit": "record",
                "neighbours": "replace",
                "ledger": "postgresql://db/books#s",
            },
            "columns": {"x": {"type": "boolean"}},
        }
    )
    assert schema.ledger_location == "postgresql://db/books#s"
    assert isinstance(given_ledger(Memory(), Place(named="postgresql://db/books")), Memory)
