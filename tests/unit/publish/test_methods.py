"""The methods by name, and what each says."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pytest

import tenue as tn
from tenue.errors import InvalidArgument, InvalidSchema, InvalidTable, Unreachable
from tenue.noise import Seeded
from tenue.publish.methods import contract
from tenue.publish.methods.catalogue import METHODS, chosen_method, options_of, takes_options
from tenue.publish.methods.contract import Method, Published
from tenue.publish.methods.groups import Grouped
from tenue.publish.methods.swap import Swap
from tenue.publish.table.input_table import Original, open_original, read_original
from tenue.schema import Schema
from unit.publish.census import people as contract_people
from unit.publish.census import schema
from unit.publish.stored import MEMORY, people, stored
from unit.publish.stored import schema as passable_schema


def chosen(method: str = "swap", k: object = 5, **changes: Any) -> Method:
    return chosen_method(schema(), method, k=k, **changes)


def prepared(table: pa.Table, method: Method, seed: int) -> tuple[Original, int]:
    """The rows that are published, and how many were left out."""
    read = read_original(table, schema())
    original = method.prepare(read, Seeded(seed))
    return original, read.size - original.size


# -- rows ------------------------------------------------------------------------------------------


def test_rows_are_shuffled_before_anything_is_compared() -> None:
    table = contract_people(80, age=[20 + i for i in range(80)])
    original, _ = prepared(table, chosen(), 3)
    ages = original.cells["age"].numbers.tolist()
    assert sorted(ages) == list(range(20, 100))
    assert ages != sorted(ages)


def test_only_values_that_the_method_reads_must_be_there() -> None:
    table = contract_people(age=[None] * 7 + list(range(30, 83)), note=["plain"] * 59 + [None])
    by_value = chosen(by="each-confidential", override="homogeneous-groups")
    assert prepared(table, by_value, 1)[1] == 0
    by_group = chosen(by="quasi-identifiers")
    original, left_out = prepared(table, by_group, 1)
    assert left_out == 7
    assert original.size == 53
    assert original.cells["age"].complete


def test_rows_that_each_miss_something_leave_nothing_to_publish() -> None:
    table = contract_people(
        age=[None if i % 2 else 30 + i for i in range(60)],
        sex=["f" if i % 2 else None for i in range(60)],
    )
    with pytest.raises(InvalidTable):
        prepared(table, chosen(), 1)


def test_k_is_compared_with_what_is_left() -> None:
    table = contract_people(age=[None] * 50 + list(range(30, 40)))
    with pytest.raises(Unreachable) as refused:
        prepared(table, chosen(k=11), 1)
    assert "k = 10 at most" in refused.value.fix


# -- history ---------------------------------------------------------------------------------------


def test_every_step_is_told_with_its_numbers() -> None:
    table = contract_people(age=[None] * 10 + list(range(30, 80)))
    release = tn.publish(table, schema=schema(), method="swap", k=10, override="homogeneous-groups")
    assert [str(step) for step in release.history if step.name != "homogeneous"] == [
        "read: 60 rows, 6 columns besides identifiers",
        "left out: 10 of 60 rows (16.7 %), for missing values: `age` 10",
        "partition: 5 groups, 10 units in each",
        "publish: swap by quasi-identifiers: income, ill",
        "overridden: homogeneous-groups",
    ]


def test_groups_are_counted_in_persons() -> None:
    take = [i for i in range(12) for _ in range(3)]
    release = tn.publish(contract_people(12).take(take), schema=schema("name"), method="swap", k=4)
    (step,) = [step for step in release.history if step.name == "partition"]
    assert step.text == "3 groups, 4 units in each"


def test_one_valued_groups_are_counted_for_each_column() -> None:
    """Sorted by income, 50 times "no" and 10 times "flu": by value, all groups of five are pure."""
    table = contract_people(ill=["no"] * 50 + ["flu"] * 10)
    release = tn.publish(
        table,
        schema=schema(),
        method="swap",
        k=5,
        by="each-confidential",
        override="homogeneous-groups",
    )
    told = {step.text for step in release.history if step.name == "homogeneous"}
    assert told == {
        "0 of 11 groups have a single value of `income`",
        "2 of 2 groups have a single value of `ill`",
    }


def test_values_beyond_their_bounds_are_counted() -> None:
    table = contract_people(
        age=[-5, 121, 130] + [40] * 57, income=[1000.5] + [float(i) for i in range(59)]
    )
    release = tn.publish(table, schema=schema(), method="microaggregate", k=4)
    told = [step.text for step in release.history if step.name == "clipped"]
    assert told == [
        "3 values of `age` outside the declared bounds",
        "1 value of `income` outside the declared bounds",
    ]
    inside = tn.publish(contract_people(), schema=schema(), method="microaggregate", k=4)
    assert not any(step.name == "clipped" for step in inside.history)


# -- schema ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("override", ["second", ["second-release", "x"], 7, {"a": 1}])
def test_an_override_has_a_known_name(override: object) -> None:
    with pytest.raises(InvalidArgument):
        chosen(override=override)
    both = chosen(override=["second-release", "homogeneous-groups"]).override
    assert both == {"second-release", "homogeneous-groups"}


@pytest.mark.parametrize("role", ["quasi-identifier", "confidential"])
def test_the_column_that_names_a_person_is_no_other_column(role: str) -> None:
    named = schema("name", name={"type": "category", "categories": ["a", "b"], "role": role})
    found = chosen_method(named, "swap", k=5)
    assert "name" not in found.quasi + found.confidential


def test_every_column_needs_a_stated_role_and_all_that_lack_one_are_named() -> None:
    """What a draft left open must not leave unprotected as if somebody had said "other"."""
    open_ = schema(
        name={"type": "identifier"}, age={"role": "other"}, ill={"role": "confidential"}
    ).to_dict()
    del open_["columns"]["sex"]["role"], open_["columns"]["note"]["role"]
    with pytest.raises(InvalidSchema) as refused:
        chosen_method(Schema.from_dict(open_), "swap", k=5)
    assert refused.value.facts["columns"] == ("sex", "note")
    assert "`sex`, `note`" in refused.value.what
    assert "[columns.sex]" in refused.value.fix
    assert chosen_method(schema(sex={"role": "other"}), "swap", k=5).unprotected == ("sex", "note")


def test_names_of_persons_and_derived_columns_need_no_role() -> None:
    named = schema("name", name={"type": "category", "categories": ["a", "b"]}).to_dict()
    named["columns"]["twice"] = {"type": "number", "bounds": [0, 240], "expression": "age * 2"}
    assert Schema.from_dict(named).without_role == ()
    chosen_method(Schema.from_dict(named), "swap", k=5)


def test_a_release_of_fewer_rows_knows_which_of_the_original_they_are() -> None:
    read = read_original(contract_people(10), schema())
    assert Published(read.cells).of(read) is read
    some = Published(read.cells, rows=np.array([7, 2])).of(read)
    assert some.size == 2
    assert some.cells["age"].numbers.tolist() == read.cells["age"].numbers[[7, 2]].tolist()


# -- Which methods hold a table, and which read it in passes: by public facts alone ----------------

SWAP: dict[str, Any] = {"k": 5, "by": "each-confidential"}


def test_a_table_is_read_in_passes_if_its_values_need_more_than_is_stated(tmp_path: Path) -> None:
    declared = tn.Schema.from_dict(passable_schema())
    stated = chosen_method(declared, "swap", memory=MEMORY, **SWAP)
    silent = chosen_method(declared, "swap", **SWAP)
    values = 300 * 6
    with open_original(stored(tmp_path, people()), declared) as table:
        for bytes_, expected in ((MEMORY // values, False), (MEMORY // values + 1, True)):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(contract, "VALUE", bytes_)
                assert stated.in_passes(table) is expected
                assert not silent.in_passes(table)  # on this machine only if it is asked for
    with open_original(people(), declared) as held, pytest.MonkeyPatch.context() as patch:
        patch.setattr(contract, "VALUE", 1 << 40)
        assert not stated.in_passes(held)


def test_little_memory_is_refused() -> None:
    with pytest.raises(tn.Refused, match="memory"):
        chosen_method(tn.Schema.from_dict(passable_schema()), "swap", memory=MEMORY - 1, **SWAP)


# The methods by name; and a call of `publish` takes the options of the method that it names.


class Costly(Method):
    """Stands for a method without k, such as one that costs epsilon."""

    name = "costly"

    @classmethod
    def read(cls, schema: Schema, override: object, *, epsilon: object, by: str = "auto") -> Self:
        raise AssertionError("it is only asked for its options")


def test_every_method_goes_by_its_own_name() -> None:
    assert all(kind.name == name for name, kind in METHODS.items())
    assert isinstance(chosen_method(schema(), "swap", k=5), Swap)
    with pytest.raises(InvalidArgument, match='"microaggregate", "swap"'):
        chosen_method(schema(), "shuffle", k=5)


def test_roles_are_stated_whatever_the_method() -> None:
    open_ = schema().to_dict()
    del open_["columns"]["sex"]["role"]
    for method, kind in METHODS.items():
        if kind.named_roles:
            with pytest.raises(InvalidSchema):
                chosen_method(Schema.from_dict(open_), method, k=5)
    assert [name for name, kind in METHODS.items() if not kind.named_roles] == ["private"]


def test_options_are_those_that_the_methods_read() -> None:
    grouped = ["k", "by", "l", "t", "gamma", "memory"]
    recoded = ["suppress", "minimise", "widths"]
    perturbed = ["retain", "transition", "noise", "correlated"]
    every = [*grouped, *recoded, "importance", "groups", *perturbed, "epsilon"]
    assert list(options_of(METHODS.values())) == every
    both = options_of([Swap, Costly])
    assert list(both) == [*grouped, "epsilon"]
    # what only one of them needs can be left out of a call of the other
    assert both["k"].default is None
    assert both["epsilon"].default is None
    assert options_of([Swap])["k"].default is both["k"].empty


@takes_options
def called(source: object = None, *, method: object, note: str = "", **options: Any) -> object:
    return options


def test_a_call_is_checked_against_the_method_that_it_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(METHODS, "costly", Costly)
    assert called(method="costly", epsilon=1) == {"epsilon": 1}
    assert called(method="swap", k=3, note="x") == {"k": 3}
    with pytest.raises(InvalidArgument, match=r"needs `epsilon`.*takes `epsilon`, `by`.*epsilon=1"):
        called(method="costly")
    with pytest.raises(InvalidArgument, match=r"needs `k`.*k=5"):
        called(method="swap")
    with pytest.raises(InvalidArgument, match=r'`k` is given with method="costly".*`epsilon`'):
        called(method="costly", epsilon=1, k=3)
    # whether a method is one is for `chosen_method` to say
    assert called(method=["no", "method"]) == {}


def test_publish_shows_the_options_of_all_methods() -> None:
    import inspect

    names = list(inspect.signature(tn.publish).parameters)
    assert names[:3] == ["source", "schema", "method"]
    assert "options" not in names


# nobody outside asks which method it has: the next one would be forgotten there
SOURCE = Path(__file__).parents[3] / "src" / "tenue"
HOME = SOURCE / "publish" / "methods"
FILES = [
    path
    for room in ("microdata", "command")
    for path in sorted((SOURCE / room).rglob("*.py"))
    # algorithms of partition have names of their own, whoever uses them
    if path.parent not in (HOME, SOURCE / "publish" / "partition")
]
CLASSES = {kind.__name__ for kind in METHODS.values()} | {"Grouped", "Method"}
WORDS = set(METHODS).union(*(kind.ways for kind in METHODS.values() if issubclass(kind, Grouped)))


def asks(text: str, *, words: bool = True) -> list[str]:
    """Where a file compares the name of a method or a way, or tests for the class of one."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if words and isinstance(node, ast.Compare):
            for side in ast.walk(node):
                if isinstance(side, ast.Constant) and side.value in WORDS:
                    found.append(f"line {node.lineno} compares {side.value!r}")
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in ("isinstance", "issubclass"):
            assert isinstance(node, ast.Call)
            for side in ast.walk(node.args[1]):
                if isinstance(side, ast.Name) and side.id in CLASSES:
                    found.append(f"line {node.lineno} tests for {side.id}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_file_outside_asks_which_method_it_has(path: Path) -> None:
    assert asks(path.read_text()) == []


@pytest.mark.parametrize("name", ["contract.py", "groups.py", "catalogue.py"])
def test_what_methods_share_does_not_ask_either(name: str) -> None:
    assert asks((HOME / name).read_text()) == []


def test_only_the_catalogue_and_the_method_itself_name_a_method() -> None:
    modules = {kind.__module__.rpartition(".")[2] for kind in METHODS.values()}
    for path in [*FILES, HOME / "contract.py", HOME / "groups.py"]:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                parts = (node.module or "").split(".")
                assert not ("method" in parts and parts[-1] in modules), path


def test_a_question_is_seen() -> None:
    assert asks('if way.name == "swap":\n    pass')
    assert asks('if way.by in ("mdav", "v-mdav"):\n    pass')
    assert asks("isinstance(way, Swap)")
    assert asks("isinstance(way, (Microaggregate, int))")
    assert not asks('publish(method="swap")')
