"""Rows: what is spent, and the names under which tickets and answers are found."""

from __future__ import annotations

from itertools import product

from tenue.ledger.row import (
    ANSWERED,
    EVERYONE,
    OPEN,
    RETURNED,
    UNANSWERED,
    Account,
    Dataset,
    Person,
    Ticket,
    cache_name,
    standing,
    ticket_name,
)
from tenue.promise.loss import EpsilonDelta


def test_spent_is_the_sum_for_all_and_the_maximum_over_persons() -> None:
    account = Account(statistical=5, most=3, delta=20, most_delta=1, individual=100)
    assert account.spent == account.table + account.persons == EpsilonDelta(8, 21)
    assert (account.table, account.persons) == (EpsilonDelta(5, 20), EpsilonDelta(3, 1))
    assert account.individual_spent == EpsilonDelta(100)
    assert Account.of(account.table, account.persons, account.individual_spent) == account
    assert Account() == (0, 0, 0, 0, 0)
    assert Person() == (0, 0)
    assert Person(3, 1).spent == EpsilonDelta(3, 1)


def test_rows_are_read_as_losses() -> None:
    """Mutant: a quota that allows no delta, so that no analyst could ask for any."""
    row = Dataset("replace", 9, 4, 5, "", "", widest=7, individual=6)
    assert (row.budget, row.quota) == (EpsilonDelta(9, 4), EpsilonDelta(5, 4))
    assert (row.individual_budget, row.widest_loss) == (EpsilonDelta(6), EpsilonDelta(7))
    none = row._replace(per_analyst=None, individual=None)
    assert (none.quota, none.individual_budget) == (None, None)
    assert row.caps == (9, 4, 5)


def test_outcomes_keep_the_numbers_that_files_hold() -> None:
    assert (OPEN, ANSWERED, RETURNED, UNANSWERED) == (0, 1, 2, 3)
    assert EVERYONE == ""
    assert Ticket(7, None, None, "me")[4:] == (OPEN, None)


def test_no_two_scopes_share_a_name() -> None:
    scopes = list(product(("d", "da"), ("a", "nn", "ann"), ("k", "ak")))
    names = {ticket_name(*scope) for scope in scopes}
    assert len(names) == len(scopes)
    assert ticket_name("d", "ann", None) is None
    assert ticket_name("d", "ann", "k") == ticket_name("d", "ann", "k")
    assert len(ticket_name("d", "ann", "k") or b"") == 32


def test_caches_belong_to_a_data_set_and_not_to_an_analyst() -> None:
    assert cache_name("d", None) is None
    assert cache_name("d", "xk") != cache_name("dx", "k")
    assert cache_name("d", "k") != ticket_name("d", "", "k")


def test_the_names_are_those_of_ledgers_already_written() -> None:
    name, cache = ticket_name("census", "ann", "key"), cache_name("census", "key")
    assert name is not None
    assert cache is not None
    assert name.hex().startswith("86e056e7043bde06")
    assert cache.hex().startswith("0b69b7d05e926fd0")


def test_withdrawn_releases_do_not_stand() -> None:
    assert standing({"a": 3, "b": -5, "c": 4}) == {"a": 3, "c": 4}
