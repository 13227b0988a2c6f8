from __future__ import annotations

import time

import psycopg
import pytest

from postgres_server import Server
from tenue.errors import LedgerFault, NotPromised
from tenue.ledger.postgres.address import given_address
from tenue.ledger.postgres.session import Session

pytestmark = pytest.mark.needs("postgres")


def test_a_server_that_is_not_there_is_a_fault_that_quotes_nothing() -> None:
    with pytest.raises(LedgerFault, match="cannot be reached") as fault:
        Session(given_address("postgresql://canary@127.0.0.1:1/canary"))
    assert "canary" not in str(fault.value)


def test_a_session_waits_for_the_disk_whatever_its_role_was_told(postgres_server: Server) -> None:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute("CREATE ROLE hasty LOGIN")
        connection.execute("ALTER ROLE hasty SET synchronous_commit = off")
    session = Session(given_address(postgres_server.address(role="hasty")))
    assert session.execute("SHOW synchronous_commit").fetchone() == ("on",)
    session.close()


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes"])
def test_a_server_that_does_not_wait_for_its_disk_is_refused(setting: str) -> None:
    server = Server()
    try:
        server.stop()
        server.start(f"{setting}=off")
        with pytest.raises(NotPromised) as refusal:
            Session(given_address(server.address()))
        assert refusal.value.code == "not-durable"
        assert setting in refusal.value.what
    finally:
        server.remove()


def test_a_transaction_that_the_server_gave_up_is_not_taken_for_done(
    postgres_server: Server,
) -> None:
    session = Session(given_address(postgres_server.address(schema="given_up")))
    session.execute("BEGIN")
    with pytest.raises(psycopg.Error):
        session.execute("SELECT 1/0")
    # the server answers COMMIT without an error here, and keeps nothing
    with pytest.raises(LedgerFault, match="did not keep"):
        session.commit()
    session.close()


def test_an_owner_is_alive_as_long_as_its_session(postgres_server: Server) -> None:
    address = given_address(postgres_server.address(schema="owners"))
    one, other = Session(address), Session(address)
    owner = one.new_owner()
    assert one.be(owner)
    assert not other.be(owner)
    other.execute("BEGIN")
    assert other.alive(owner)
    assert not other.alive(one.new_owner())
    other.roll_back()
    one.close()
    while not other.be(owner):  # as soon as the server has let go of the session
        time.sleep(0.01)
    another = Session(address)
    another.execute("BEGIN")
    assert another.alive(owner)
    other.close()
    while another.alive(owner):
        time.sleep(0.01)
    another.roll_back()
    another.close()


def test_an_owner_of_another_ledger_is_somebody_else(postgres_server: Server) -> None:
    here, there = (Session(given_address(postgres_server.address(schema=s))) for s in ("a", "b"))
    assert here.be("same")
    assert there.be("same")
    here.close()
    there.close()
