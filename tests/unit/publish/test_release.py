"""A release: its risk and utility, its report, how it is handed out."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tenue as tn
from tenue.evaluate import check, risk, utility
from tenue.noise import Seeded
from tenue.publish.assessment import assessed, measured_groups
from tenue.publish.methods.catalogue import chosen_method
from tenue.publish.methods.groups import GROWN
from tenue.publish.methods.permuted_columns import VOIDED
from tenue.publish.methods.swap import CROSSED, EACH_COLUMN, INFORMED
from tenue.publish.publish import AS_STORED, COUNTED, certify
from tenue.publish.release import Release, warnings_of
from tenue.report.picture import Picture
from unit.publish.census import people, schema

module = importlib.import_module("tenue.publish.assessment")
COLUMNS = ["age", "job", "sex", "income", "ill", "note"]


def pair(size: int = 300) -> tuple[pa.Table, pa.Table]:
    """A table and a coarser one: ages in tens."""
    before = people(size).select(COLUMNS)
    ages = [age // 10 * 10 for age in before.column("age").to_pylist()]
    return before, before.set_column(0, "age", [ages])


def test_a_small_table_is_compared_whole() -> None:
    before, after = pair()
    found = assessed(before, after, schema(), Seeded(1))
    assert found == (risk(before, after, schema()), utility(before, after, schema()), ())


def test_in_a_large_table_the_risk_is_not_understated(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = pair()
    whole = risk(before, after, schema())
    monkeypatch.setattr(module, "MOST_LINKED", 60)
    for seed in range(5):
        harm, use, steps = assessed(before, after, schema(), Seeded(seed))
        assert harm.linkage_by_quasi_identifiers is not None
        assert whole.linkage_by_quasi_identifiers is not None
        assert harm.linkage_by_quasi_identifiers > whole.linkage_by_quasi_identifiers
        seen = replace(check(after, schema()), reading=None)
        assert harm.check == seen  # groups of a part would be too small
        assert harm.check != risk(before.slice(0, 60), after.slice(0, 60), schema()).check
        assert use == utility(before, after, schema())
        assert "60 rows" in steps[0].text
        assert (whole.rows_tried, harm.rows_tried) == (300, 60)
        assert "measured on 60 of 300 rows" in str(harm)
        assert "drawn at random" not in str(whole)


def test_the_rows_are_drawn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unchanged table is linked and found unchanged, whichever rows are drawn."""
    before, _ = pair()
    monkeypatch.setattr(module, "MOST_LINKED", 50)
    harm, _, _ = assessed(before, before, schema(), Seeded(2))
    assert harm.unchanged == 1
    assert harm.record_linkage > 0.99
    assert replace(harm, check=None).check is None


def test_a_release_tells_how_it_was_assessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_LINKED", 50)
    release = tn.publish(people(), schema=schema(), method="swap", k=4)
    assert release.history[-1].name == "evaluate"


def test_k_of_a_swapped_table_is_explained_and_that_of_another_needs_no_word() -> None:
    swapped = tn.publish(people(), schema=schema(), method="swap", k=4).risk.check
    assert swapped is not None
    assert swapped.k == 1
    assert "at most 1/4" in swapped.notes[0]
    assert "k, l and t do not measure the promise" in str(swapped).replace("\n", " ")
    other = tn.publish(people(), schema=schema(), method="microaggregate", k=4).risk.check
    assert other is not None
    assert not any("swapped" in note for note in other.notes)


def test_k_is_that_of_the_table_as_it_is_written() -> None:
    """Middles of different intervals may be equal; k of what was read would then be too large."""
    before, _ = pair(40)
    written = before.set_column(
        0, "age", [["[0, 100]" if i % 2 else "[50, 50]" for i in range(40)]]
    )
    middle = before.set_column(0, "age", [[50] * 40])
    plain = schema(job=None, sex=None)
    found = assessed(before, middle, plain, Seeded(1))
    assert found.risk is not None
    assert found.risk.check is not None
    assert found.risk.check.k == 40
    again = measured_groups(found, written, plain, None).risk
    assert again is not None
    assert again.check is not None
    assert again.check.k == 20
    assert again.record_linkage == found.risk.record_linkage
    none = found._replace(risk=None)
    assert measured_groups(none, written, plain, None) is none


# The report of a release, through `publish`: canaries, what is public, what each method shows.

CANARY = "<img src=x onerror=alert(1)>"
FORMULA = '=HYPERLINK("http://x","y")'


@pytest.fixture(scope="module")
def release() -> Any:
    return tn.publish(people(), schema=schema(), method="swap", k=4)


def test_no_row_of_the_original_is_kept(release: Any) -> None:
    shown = release._published.shown
    assert shown.compared
    assert shown.sizes
    assert all(len(one.after) < 30 for one in shown.compared)


def test_a_chart_shows_columns_before_and_after(release: Any) -> None:
    made = release.picture()
    assert isinstance(made, Picture)
    assert "for the holder only" in made.subtitle
    assert not release.left  # looking registers nothing
    assert "<svg" in tn.report.plot(release).svg()


def test_the_page_is_whole_and_the_public_one_is_less(release: Any) -> None:
    page = release.page()
    assert "for the holder" in page
    assert not release.left
    public = release.page(public=True)
    assert "for the holder" not in public
    assert len(public) < len(page)
    assert release.left  # it may be handed on


def described(**column: Any) -> tn.Schema:
    return tn.Schema.from_dict(
        {
            "table": {"name": "people", "unit": "record", "neighbours": "replace"},
            "columns": {
                "age": {"type": "number", "bounds": [0, 100], "role": "quasi-identifier"},
                "said": {"type": "category", "role": "confidential", **column},
            },
            "budget": {"total": 5},
        }
    )


def told(size: int = 40) -> pa.Table:
    ages = [20 + i % 7 for i in range(size)]
    return pa.table({"age": ages, "said": [CANARY if i % 3 else FORMULA for i in range(size)]})


def test_values_stay_text() -> None:
    """Names of columns cannot hold such signs where there is a schema; `compare` tries them."""
    words = described(categories=[CANARY, FORMULA])
    page = tn.publish(told(), schema=words, method="swap", k=4, ledger=False).page()
    assert "<img" not in page
    assert "&lt;img src=x onerror" in page
    assert "=HYPERLINK(&quot;" in page or '=HYPERLINK("' in page
    assert not re.search(r"<[^>]*\son[a-z]+=", page)
    assert not re.search(r"(?:href|src)=.http", page)


def test_a_private_table_has_a_public_report_only() -> None:
    words = described(categories=[CANARY, FORMULA])
    books = tn.ledger.Memory()
    release = tn.publish(told(600), schema=words, method="private", epsilon=1, ledger=books)
    page = release.page()
    assert "for the holder" not in page
    assert page == release.page(public=True)
    assert "What is not promised" in page
    assert not release._published.shown.compared


def test_a_preview_has_a_page_and_cannot_be_saved(tmp_path: Any) -> None:
    made = tn.publish(people(), schema=schema(), method="swap", k=4, preview=True)
    assert "preview" in made.page()
    with pytest.raises(tn.Refused, match="preview"):
        made.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


# A release: what its certificate promises and does not, and what is shown of it to whom.


@pytest.fixture(scope="module")
def swapped() -> Release:
    return tn.publish(people(), schema=schema(), method="swap", k=4)


@pytest.fixture(scope="module")
def averaged() -> Release:
    table = people(ill=["no"] * 50 + ["flu"] * 10)
    return tn.publish(table, schema=schema(), method="microaggregate", k=5)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_the_prompt_shows_a_few_lines(swapped: Release, averaged: Release) -> None:
    for release in (swapped, averaged):
        text = repr(release)
        assert text == str(release)
        assert text.startswith("Release of people, ")
        assert ": 60 rows, 6 columns" in text.splitlines()[0]
        names = ["Promised", "Largest risk", "Utility", "Left out", "Where"]
        shown = [line[2:14].strip() for line in text.split("\n\n")[0].splitlines()[1:]]
        assert [name for name in shown if name] == names
        assert len(text.splitlines()) <= 20
        assert max(map(len, text.splitlines())) < 80
        assert "`note` is unprotected" in flat(text)
        assert "It is not differential privacy." not in flat(text)  # on request: report()
        assert "person 1" not in text
    assert "k-anonymity (k = 5)" in repr(averaged)


def test_the_verdict_has_a_figure_of_the_risk_that_matters(
    swapped: Release, averaged: Release
) -> None:
    """All values of a microaggregated copy are true, and an intruder with the whole original links
    most of its rows, so neither is its risk; a swap is judged by the values that stayed."""
    known, check = averaged.risk.linkage_by_quasi_identifiers, averaged.risk.check
    assert known is not None
    assert check is not None
    found = [one.records for one in averaged.risk.rematched.values()]
    most = max(known, check.homogeneous_share, *found)
    assert averaged.risk.largest()[0] == most < averaged.risk.record_linkage
    assert averaged.verdict().risk == averaged.risk.largest()[1]
    assert f"{100 * most:.3g} %" in averaged.verdict().risk
    kept = max(swapped.risk.own_values.values())
    assert swapped.risk.largest()[0] >= kept > 0.5


def test_what_is_missing_is_left_out_of_a_swap_and_said_first(tmp_path: Path) -> None:
    table = people(60, income=[None] * 6 + list(range(54)))
    asked: dict[str, Any] = {"schema": schema(ill=None), "k": 4, "ledger": False}
    swap = tn.publish(table, method="swap", **asked)
    said = "6 of 60 rows (10 %), for missing values: `income` 6; columns `name`, `ill`"
    assert swap.verdict().left_out.startswith(said.partition(";")[0])
    assert "`name`" in swap.verdict().left_out
    for text in (repr(swap), swap.report()):
        assert flat(said.partition(";")[0]) in flat(" ".join(text.splitlines()[:9]))
    assert said.partition(";")[0].replace("`income`", "<code>income</code>") in swap.page()
    whole = tn.publish(people(60), method="generalise", **asked).verdict()
    assert "rows" not in whole.left_out


def test_the_verdict_says_where_the_release_is(tmp_path: Path) -> None:
    ledger = tn.ledger.SQLite(tmp_path / "x.ledger")
    release = tn.publish(people(), schema=schema(), method="swap", k=4, ledger=ledger)
    assert release.verdict().where.startswith("nowhere yet")
    release.save(tmp_path / "out")
    assert release.verdict().where == f"folder {tmp_path / 'out'}; registered in x.ledger"
    page = (tmp_path / "out" / "report.html").read_text()
    assert "folder out; registered in x.ledger" in page
    assert page.index("In short") < page.index("What is promised")


def test_a_private_table_is_not_called_a_copy() -> None:
    budgeted = {**schema().to_dict(), "budget": {"total": 5}}
    release = tn.publish(
        people(), schema=budgeted, method="private", epsilon=1, ledger=tn.ledger.Memory()
    )
    page = release.page()
    assert "protected copy" not in page
    assert "<h1>A private table drawn from people</h1>" in page
    assert "by a factor of at most 2.72" in release.verdict().risk


def test_a_swap_does_not_show_a_k_that_it_does_not_promise(swapped: Release) -> None:
    assert swapped.risk.check is not None
    assert swapped.risk.check.k == 1
    for text in (repr(swapped), swapped.report()):
        assert "k = 1" not in text
    assert "the method does not change this" in flat(swapped.report())
    assert "at most 1/4" in flat(swapped.report())


def test_the_report_has_every_limit_step_and_figure(swapped: Release, averaged: Release) -> None:
    for release in (swapped, averaged):
        text = flat(release.report())
        for limit in (*release.certificate.does_not_promise, *release.certificate.assumptions):
            assert flat(limit) in text
        for step in release.history:
            assert str(step) in text
        assert "holder only" in text
        assert "It does not protect `note`" in text
        assert "Compared with the rows as the schema reads them" in text
        assert max(map(len, release.report().splitlines())) <= 90
    assert "Every equivalence class has at least 5 rows" in flat(averaged.report())


def test_a_notebook_shows_a_table_in_which_all_is_escaped(averaged: Release) -> None:
    hostile = "<script>alert(1)</script>"
    certificate = replace(
        averaged.certificate,
        does_not_promise=(hostile,),
        parameters={"unprotected": hostile},
    )
    shown = replace(averaged, certificate=certificate)._repr_html_()
    assert hostile not in shown
    assert shown.count("&lt;script&gt;") == 1
    assert shown.startswith("<table")
    assert "k-anonymity (k = 5)" in shown


def test_a_swap_that_leaves_most_values_where_they_were_is_warned_of() -> None:
    """One in ten says yes: shuffled among five, four in five rows still tell the truth."""
    given = schema(ill=None, income=None).to_dict()
    given["columns"]["hiv"] = {"type": "boolean", "role": "confidential"}
    table = people(200).append_column("hiv", [[i % 10 == 0 for i in range(200)]])
    release = tn.publish(table, schema=tn.Schema.from_dict(given), method="swap", k=5)
    share = release.risk.own_values["hiv"]
    assert share > 0.6
    (warning,) = warnings_of(release)
    assert "`hiv`" in warning
    for text in (repr(release), release.report()):
        assert flat(warning) in flat(text)
        assert "WARNING (holder only)" in text
    assert (
        "keep their true value" not in release.certificate.to_json()
    )  # the holder's fact, of rows
    sentence = release.certificate.promise.sentence()
    assert "originates from that unit's record" in sentence
    assert "whole group may have the same value" in sentence


def test_groups_are_not_warned_of_for_what_they_never_hide(averaged: Release) -> None:
    assert set(averaged.risk.own_values.values()) == {1.0}
    assert warnings_of(averaged) == []


def test_a_column_that_tells_everybody_apart_is_warned_of(averaged: Release) -> None:
    given = schema(note=None).to_dict()
    given["columns"]["no"] = {"type": "number", "bounds": [0, 99], "role": "other"}
    table = people().append_column("no", [list(range(60))])
    release = tn.publish(table, schema=tn.Schema.from_dict(given), method="microaggregate", k=5)
    (warning,) = warnings_of(release)
    assert warning.startswith("`no` has a different value in every row")
    assert flat(warning) in flat(release.report())
    assert warnings_of(averaged) == []


def test_a_swap_explains_why_knowing_less_links_more(swapped: Release, averaged: Release) -> None:
    assert "leaves quasi-identifiers unchanged, so" in flat(swapped.report())
    assert "leaves quasi-identifiers unchanged, so" not in flat(averaged.report())


def certificate(method: str, k: object = 7, unit: str = "record", **changes: Any) -> tn.Certificate:
    settings: dict[str, Any] = {"by": None, "l": None, "t": None, "gamma": None, "override": ()}
    declared = schema(unit)
    settings.update(changes)
    if settings["by"] == "each-confidential":
        settings["override"] = "homogeneous-groups"
    way = chosen_method(declared, method, k=k, **settings)
    return certify(way, registered=False, seal="seal")


WAYS = [
    ("microaggregate", "mdav"),
    ("microaggregate", "v-mdav"),
    ("swap", "quasi-identifiers"),
    ("swap", "each-confidential"),
    ("swap", "other-attributes"),
]


@pytest.mark.parametrize(("method", "by"), WAYS)
def test_every_certificate_states_promise_and_limits(method: str, by: str) -> None:
    found = certificate(method, by=by)
    kind = tn.KAnonymity if method == "microaggregate" else tn.ProbabilisticKAnonymity
    assert found.promise == kind(7)
    assert not found.promise.is_differential_privacy
    limits = " ".join(found.does_not_promise)
    for words in (
        "not differential privacy",
        "second release of the table",
        "the same confidential value",
    ):
        assert words in limits
    assert "thesis" in found.source
    assert tn.Certificate.from_json(found.to_json()) == found
    assert found.schema_hash == "seal"
    assert schema().digest not in found.to_json()


def test_swaps_say_how_close_values_stay_and_what_an_intruder_may_know() -> None:
    near = certificate("swap", by="each-confidential")
    assert any("95 %" in limit for limit in near.does_not_promise)
    assert any("every assignment of a column's values" in text for text in near.assumptions)
    assert not any("all columns but" in text for text in near.assumptions)
    far = certificate("swap", by="quasi-identifiers")
    assert not any("95 %" in limit for limit in far.does_not_promise)


def test_the_least_k_is_promised_and_every_k_stated() -> None:
    found = certificate("swap", {"income": 9, "ill": 3}, by="each-confidential")
    assert found.promise == tn.ProbabilisticKAnonymity(3)
    assert found.parameters["k"] == "income: 9, ill: 3"


def test_parameters_that_matter_are_in_it() -> None:
    found = certificate(
        "microaggregate", by="v-mdav", gamma="1.1", l=2, t="0.25", override="second-release"
    )
    assert found.parameters["gamma"] == "1.1"
    assert "2" in found.parameters["l"]
    assert "0.25" in found.parameters["t"]
    assert found.parameters["override"] == "second-release"
    assert found.parameters["registered"].startswith("no")


def test_the_unit_decides_what_is_assumed() -> None:
    assert "Each person has at most one record." in certificate("swap").assumptions
    persons = certificate("swap", unit="name")
    assert persons.unit == "name"
    for found in (persons, certificate("swap")):  # its schema declares an identifier
        assert AS_STORED in found.assumptions
    assert "Each person has at most one record." not in persons.assumptions


def test_columns_of_role_other_are_named_as_unprotected() -> None:
    for method, by in WAYS:
        found = certificate(method, by=by)
        assert found.parameters["unprotected"] == "note"
        assert any("It does not protect `note`" in limit for limit in found.does_not_promise)
    bare = schema(note=None)
    settings: dict[str, Any] = {"by": None, "l": None, "t": None, "gamma": None, "override": ()}
    found = certify(chosen_method(bare, "swap", k=5, **settings), registered=False)
    assert "unprotected" not in found.parameters
    assert not any("of role other" in limit for limit in found.does_not_promise)


def test_rows_that_may_be_left_out_are_not_said_to_be_in_the_release() -> None:
    """'Every value of the table is in the release' is untrue where blanks drop a row."""
    found = certificate("swap", by="each-confidential")
    limits = " ".join(found.does_not_promise)
    assert "every value of the table" not in limits
    assert "every confidential value of a published row" in limits
    assert "rows with a missing value in `income`, `ill` are left out" in limits
    filled = schema(income={"missing": 0}, ill={"missing": "no"})
    settings: dict[str, Any] = {
        "l": None,
        "t": None,
        "gamma": None,
        "override": "homogeneous-groups",
    }
    way = chosen_method(filled, "swap", k=5, by="each-confidential", **settings)
    assert "rows without a value" not in " ".join(certify(way, registered=False).does_not_promise)


def limits(found: tn.Certificate) -> str:
    return " ".join(found.does_not_promise)


def test_groups_that_grew_are_said_to_tell_something() -> None:
    assert GROWN.format(asked="l") in limits(certificate("microaggregate", l=2))
    assert GROWN.format(asked="t") in limits(certificate("swap", t="0.3"))
    assert GROWN.format(asked="l or t") in limits(certificate("microaggregate", l=2, t="0.3"))
    assert "made larger" not in limits(certificate("microaggregate"))


def test_several_columns_are_said_to_cross_whatever_their_k() -> None:
    for k in ({"income": 9, "ill": 3}, {"income": 9, "ill": 9}):
        assert CROSSED in certificate("swap", k, by="each-confidential").does_not_promise
        assert EACH_COLUMN in certificate("swap", k, by="other-attributes").does_not_promise


def test_groups_that_grow_are_said_to_void_the_share() -> None:
    assert VOIDED in certificate("swap", l=2).does_not_promise
    assert VOIDED not in certificate("swap").does_not_promise


@pytest.mark.parametrize(("method", "by"), WAYS)
def test_the_number_of_rows_is_said_to_be_public(method: str, by: str) -> None:
    assert COUNTED in certificate(method, by=by).does_not_promise
    assert (INFORMED in certificate(method, by=by).does_not_promise) == (by == "other-attributes")
