from __future__ import annotations

import traceback

import psycopg
import pytest

import tenue as tn
from postgres_server import Server
from tenue.engine.open import describe_table
from tenue.errors import InvalidTable

pytestmark = pytest.mark.needs("postgres")


@pytest.fixture(scope="module")
def address(postgres_server: Server) -> str:
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE public.whole AS SELECT i AS id, i % 3 AS age, CAST(i AS numeric(9,2)) / 4"
            " AS pay, CASE WHEN i % 2 = 0 THEN 'a' ELSE '?' END AS town, i > 7 AS sick,"
            " DATE '2020-01-01' + i AS day FROM generate_series(1, 200) i"
        )
        connection.execute("CREATE VIEW public.seen AS SELECT age, town FROM public.whole")
    return postgres_server.address()


def test_a_draft_says_what_the_server_says(address: str) -> None:
    found = {one.name: one for one in describe_table(f"{address}#whole")}
    kinds = {name: one.type for name, one in found.items()}
    assert kinds == {
        "id": "identifier",
        "age": "number",
        "pay": "number",
        "town": "category",
        "sick": "boolean",
        "day": "date",
    }
    assert found["age"].whole
    assert found["town"].marks == ("?",)
    assert found["age"].bounds is None
    assert describe_table(f"{address}#seen", values=True)[0].bounds == (0, 2)


def test_a_table_of_a_server_is_checked_like_a_file(address: str) -> None:
    found = tn.evaluate.check(f"{address}#public.whole", quasi_identifiers=["age", "town"])
    assert found.k == 33


def test_a_view_that_fails_on_a_row_is_refused_without_a_word_of_it(
    address: str, postgres_server: Server
) -> None:
    """The mutant, as it was, expects errors of psycopg: those of ADBC quote the row."""
    with psycopg.connect(postgres_server.address(), autocommit=True) as connection:
        connection.execute(
            "CREATE VIEW public.fails AS SELECT CAST('canary-' || age AS integer) AS age"
            " FROM public.whole"
        )
    with pytest.raises(InvalidTable) as refused:
        describe_table(f"{address}#fails", values=True)
    assert "canary" not in "".join(traceback.format_exception(refused.value))
    assert refused.value.__context__ is None
