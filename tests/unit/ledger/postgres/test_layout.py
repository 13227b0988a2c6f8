"""Tables that are not a ledger's own are never trusted with a budget."""

from __future__ import annotations

from itertools import count

import psycopg
import pytest

from postgres_server import Server
from tenue.errors import LedgerFault
from tenue.ledger import Charge, Postgres
from tenue.ledger.postgres.layout import _COLUMNS
from tenue.ledger.sql.tables import _KEPT

pytestmark = pytest.mark.needs("postgres")
_numbers = count(1)


@pytest.fixture
def address(postgres_server: Server) -> str:
    address = postgres_server.address(schema=f"layout_{next(_numbers)}")
    with Postgres(address) as ledger:
        ledger.open_dataset("census", total=1, neighbours="replace")
        assert ledger.is_new
        ledger.reserve("census", "ann", Charge.of(epsilon=1, neighbours="replace"), "k", "q")
    return address


def change(address: str, statement: str) -> None:
    server, schema = address.split("#")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"SET search_path = {schema}".encode())
        connection.execute(statement.encode())


def test_rows_have_the_columns_in_the_order_that_they_are_read_in() -> None:
    for table, (_, columns) in _KEPT.items():
        assert tuple(name for name, _, _ in _COLUMNS[table]) == columns


def test_an_opened_ledger_is_known_again(address: str) -> None:
    with Postgres(address) as ledger:
        assert not ledger.is_new
        assert ledger.verify().entries == 3  # opening settled what nobody answered
        assert ledger.balance().remaining == 0


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE account SET UNLOGGED",  # a crash would empty it
        "ALTER TABLE ticket ENABLE ROW LEVEL SECURITY",  # a hidden row is a free key
        "ALTER TABLE account ADD COLUMN more bigint",
        "ALTER TABLE account ALTER COLUMN most TYPE integer",
        'ALTER TABLE account ALTER COLUMN analyst TYPE text COLLATE "en_US"',
        "ALTER TABLE account DROP CONSTRAINT account_pkey",
        "DROP INDEX ticket_name",
        "CREATE TABLE another (x bigint)",
        "CREATE VIEW another AS SELECT 1",
        "UPDATE about SET layout = 99",
        "DELETE FROM turn",
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        " CREATE TRIGGER t BEFORE INSERT ON entry FOR EACH ROW EXECUTE FUNCTION f()",
        "CREATE RULE r AS ON INSERT TO entry DO INSTEAD NOTHING",
    ],
)
def test_tables_that_are_otherwise_are_a_fault(address: str, statement: str) -> None:
    if "en_US" in statement:
        change(address, "CREATE COLLATION \"en_US\" (provider = icu, locale = 'en-US')")
    with Postgres(address) as ledger:
        change(address, statement)
        found = ledger.verify()
        assert not found
        assert "tables are not" in found.reason or "wait for" in found.reason
    with pytest.raises(LedgerFault, match=r"tables are not|wait for"):
        Postgres(address)
