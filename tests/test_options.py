"""The terms of a question and the options of a release are declared once; all else follows them.

`ask/paid_request.py` declares what a question is asked with, each method of publishing its own
options. Signatures, the command line, docstrings and the reference state them again for whoever
reads these; what is forgotten there, or has another type or default, is found here.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import pytest

import tenue as tn
from documents import ROOT
from tenue.ask.explain import explain_many
from tenue.ask.paid_request import OF_MANY, Terms
from tenue.ask.session import Session
from tenue.cli.main import app
from tenue.cli.parser import Option, parameters
from tenue.publish.methods.catalogue import METHODS, Options, options_of
from tenue.publish.publish import plan_of, publish_into

TERMS = {term.name: (term.type, term.default) for term in fields(Terms)}
EXPLAINED = {name: TERMS[name] for name in TERMS if name != "individual"}
TOGETHER = {name: TERMS[name] for name in OF_MANY}
BESIDE = {"self", "sql", "questions", "key", "fresh"}
"""Parameters of a session's methods that are no terms."""
ASKS = [
    (Session.ask, TERMS),
    (Session.explain, EXPLAINED),
    (Session.ask_many, TOGETHER),
    (Session.explain_many, TOGETHER),
]
RENAMED = {"l": "diversity", "t": "closeness"}
"""Options whose name is another in the function of the verb `publish`."""
COMMANDS = (ROOT / "docs" / "reference" / "commands.md").read_text()
PUBLISHING = (ROOT / "docs" / "reference" / "publishing.md").read_text()


def stated(function: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    """The parameters of a function that are terms, with type and default."""
    found = inspect.signature(function).parameters.items()
    return {name: (one.annotation, one.default) for name, one in found if name not in BESIDE}


def typed(verb: str) -> dict[str, Any]:
    """The options of a verb, by the names of the library, with their defaults."""
    command = app.verbs[verb]
    assert callable(command)
    return {
        one.name: one.default for one in parameters(command) if isinstance(one.declared, Option)
    }


def section(text: str, title: str) -> str:
    """A section of a page, without its heading."""
    return re.split(r"^## ", text.partition(f"## {title}\n")[2], flags=re.M)[0]


def undescribed(names: Any, text: str) -> list[str]:
    """The parameters that no line of a docstring begins with."""
    lines = [line.strip().partition(":")[0] for line in text.splitlines() if ":" in line]
    listed = {name.strip() for line in lines for name in line.split(",")}
    return [name for name in names if name not in listed]


@pytest.mark.parametrize(("function", "terms"), ASKS, ids=lambda one: getattr(one, "__name__", ""))
def test_a_signature_states_the_terms(
    function: Callable[..., Any], terms: dict[str, tuple[Any, Any]]
) -> None:
    assert stated(function) == terms


def test_a_term_that_is_forgotten_or_other_is_seen() -> None:
    def forgotten(self: object, sql: str, *, epsilon: Any | None = None) -> None: ...
    def other(self: object, *, minimise: object = "absolute-error") -> None: ...

    assert set(EXPLAINED) - set(stated(forgotten)) == set(EXPLAINED) - {"epsilon"}
    assert stated(other)["minimise"] != TERMS["minimise"]
    assert undescribed(["k", "by"], "k: how many.\nIt is by\n") == ["by"]
    assert undescribed(["l", "t"], "    l, t: two of them.") == []


def test_a_call_becomes_its_terms() -> None:
    assert Terms.of({"self": 0, "sql": "x", "epsilon": 2, "clip": "auto", "key": "k"}) == Terms(
        epsilon=2, clip="auto"
    )


def test_many_questions_are_explained_on_the_terms_of_many() -> None:
    assert set(OF_MANY) <= set(inspect.signature(explain_many).parameters)


@pytest.mark.parametrize(("verb", "terms"), [("ask", TERMS), ("explain", EXPLAINED)])
def test_a_verb_states_the_terms(verb: str, terms: dict[str, tuple[Any, Any]]) -> None:
    found = typed(verb)
    assert set(TERMS) & set(found) == set(terms)
    for name, (_, default) in terms.items():
        assert found[name] == default, name


def test_terms_are_described_where_they_are_looked_up() -> None:
    assert undescribed(TERMS, Session.ask.__doc__ or "") == []
    table = section(COMMANDS, "Options of `ask` and `explain`")
    for name in TERMS:
        assert f"`--{name.replace('_', '-')}" in table, name


def test_the_options_of_all_methods_are_typed() -> None:
    found = options_of(METHODS.values())
    hints = {name: one.__forward_arg__ for name, one in Options.__annotations__.items()}
    assert hints == {name: one.annotation for name, one in found.items()}


@pytest.mark.parametrize("function", [tn.publish, publish_into, plan_of])
def test_publishing_takes_the_options_of_all_methods(function: Callable[..., Any]) -> None:
    found = inspect.signature(function).parameters
    for name, option in options_of(METHODS.values()).items():
        assert found[name] == option
    assert typing.get_type_hints(tn.publish.__wrapped__, include_extras=True)["options"]  # type: ignore[attr-defined]


def test_options_of_publishing_are_typed_and_described() -> None:
    shown = typed("publish")
    table = section(PUBLISHING, "Options")
    own = ("schema", "method", "ledger", "override", "preview")
    for name in (*options_of(METHODS.values()), *own):
        assert RENAMED.get(name, name) in shown, name
        assert re.search(rf"`{name}\b", table), name
    assert undescribed([*options_of(METHODS.values()), *own], tn.publish.__doc__ or "") == []
