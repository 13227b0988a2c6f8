from __future__ import annotations

from fractions import Fraction

from tenue.ledger import Verification
from tenue.ledger.record import balance_of, balances_in_html
from tenue.ledger.row import EVERYONE, Account, Dataset

ROW = Dataset("replace", 5 * 10**9, 10**12, 2 * 10**9, "ab", "1")


def test_a_balance_keeps_its_columns_apart() -> None:
    accounts = {
        EVERYONE: Account(10**9, 5 * 10**8, 10**11, 0, 7 * 10**9),
        "bob": Account(10**9),
        "ann": Account(0, 5 * 10**8, 10**11, 0, 7 * 10**9),
    }
    balance = balance_of("census", ROW, accounts, 2)
    assert (balance.spent, balance.statistical, balance.persons) == (
        Fraction(3, 2),
        1,
        Fraction(1, 2),
    )
    assert (balance.remaining, balance.individual) == (Fraction(7, 2), 7)
    assert [quota.analyst for quota in balance.analysts] == ["ann", "bob"]
    assert balance.analysts[1].remaining == 1
    assert str(balance) == (
        "census (replace): epsilon 1.5 of 5 spent, 3.5 remains\n"
        "  delta 0.0000001 of 0.000001 spent\n"
        "  individual epsilon 7 spent, which is not differential privacy and is not part of the"
        " above\n"
        "  releases registered: 2\n"
        "  ann: epsilon 0.5 of 2 spent\n"
        "  bob: epsilon 1 of 2 spent"
    )


def test_nothing_remains_below_nothing() -> None:
    row = ROW._replace(total=1, total_delta=1, per_analyst=1)
    balance = balance_of("census", row, {EVERYONE: Account(9, 0, 9), "ann": Account(9)}, 0)
    assert balance.remaining == balance.remaining_delta == balance.analysts[0].remaining == 0
    assert (
        balance_of("x", ROW._replace(per_analyst=None), {"a": Account()}, 0).analysts[0].total
        is None
    )


def test_a_verification_is_true_or_says_why() -> None:
    assert Verification(True, 3, "ab")
    assert str(Verification(True, 3, "ab")) == "intact: 3 entries, head ab"
    assert not Verification(False, 3, "ab", 4, "why")
    assert str(Verification(False, 3, "ab", 4, "why")) == "NOT INTACT at entry 4: why"


def test_a_balance_is_a_table_in_a_notebook() -> None:
    accounts = {EVERYONE: Account(10**9, individual=10**9), "<ann>": Account(10**9)}
    balance = balance_of("census", ROW, accounts, 2, "every answer has the same noise")
    shown = balance._repr_html_()
    assert "<tr><td>epsilon</td><td>1</td><td>5</td><td>4</td></tr>" in shown
    assert "<tr><td>delta</td><td>0</td><td>0.000001</td><td>0.000001</td></tr>" in shown
    assert "<td>1</td><td>no limit</td><td></td>" in shown  # individual, which has no cap
    assert "<tr><td>&lt;ann&gt;</td><td>1</td><td>2</td><td>1</td></tr>" in shown
    assert "<p>protocol: every answer has the same noise</p>" in shown
    assert repr(balance) == str(balance)


def test_a_balance_for_one_analyst_leaves_out_the_others() -> None:
    accounts = {EVERYONE: Account(2 * 10**9), "ann": Account(10**9), "bob": Account(10**9)}
    balance = balance_of("census", ROW, accounts, 0).seen_by("ann")
    assert [quota.analyst for quota in balance.analysts] == ["ann"]
    assert balance.spent == 2


def test_several_balances_are_one_table_without_names() -> None:
    several = [balance_of(name, ROW, {"ann": Account(1)}, 1) for name in ("a", "b")]
    shown = balances_in_html(several, "Entries: 3.")
    assert shown.count("<td>replace</td><td>5</td><td>0</td><td>5</td><td>1</td>") == 2
    assert "ann" not in shown
    assert balances_in_html([], "Entries: 0.") == "<p>Entries: 0.</p>"
