"""A shell completes what the command line takes; bash is asked itself."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from command_line import invoke
from tenue.cli import publish
from tenue.cli.completion import bash, fish, places, zsh
from tenue.cli.main import app
from tenue.cli.parser import App, parameters

pytestmark = pytest.mark.any_draw("another process draws nothing that is looked at")
ASK = r"""
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_tenue
printf "%s\\n" "${COMPREPLY[@]}"
"""
FOUND = places(app)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("completed")
    (place / "script").write_text(bash(FOUND))
    for name in ("census.csv", "census.toml", "a b.csv"):
        (place / name).touch()
    return place


def completed(words: list[str], folder: Path) -> list[str]:
    """What bash offers for the last of the words."""
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK, "bash", "./script", *words],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.stderr == ""
    return sorted(filter(None, done.stdout.splitlines()))


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["tenue", "pu"], ["publish"]),
        (["tenue", "c"], ["check", "compare", "completion"]),
        (["tenue", "--v"], ["--version"]),
        (["tenue", "ledger", ""], ["--help", "-h", "anchor", "export", "show", "verify"]),
        (["tenue", "ledger", "v"], ["verify"]),
        (["tenue", "ask", "--me"], ["--measure-cut", "--mechanism"]),
        (["tenue", "publish", "--method", "s"], ["swap"]),
        (["tenue", "publish", "--method", "=", "t"], ["t-close"]),
        (["tenue", "publish", "--method", "="], sorted(publish.METHODS)),
        (["tenue", "publish", "--kind", ""], ["csv", "parquet"]),
        (["tenue", "init", "x.csv", "--for", "p"], ["publish"]),
        (["tenue", "completion", ""], ["--help", "--json", "-h", "bash", "fish", "zsh"]),
        (["tenue", "check", "cen"], ["census.csv", "census.toml"]),
        (["tenue", "check", "a"], ["a b.csv"]),
        (["tenue", "ask", "--schema", "census.t"], ["census.toml"]),
        (["tenue", "ask", "cen"], []),  # a question is no file
        (["tenue", "ask", "--epsilon", ""], []),
    ],
)
def test_bash_completes(words: list[str], offered: list[str], folder: Path) -> None:
    assert completed(words, folder) == offered


def test_every_option_of_every_command_is_offered(folder: Path) -> None:
    for place in FOUND:
        dashes = {w for w in place.follows.words if w.startswith("--")}
        assert dashes >= {name for one in place.options for name in one.names if len(name) > 2}
    longest = max(FOUND, key=lambda place: len(place.known))
    offered = completed([*longest.path.split(), "--"], folder)
    assert set(offered) == {w for w in longest.follows.words if w.startswith("--")}
    assert {"--quantiles", "--json"} & set(offered)


def test_every_command_has_a_place() -> None:
    paths = {place.path for place in FOUND}
    assert {"tenue", "tenue ask", "tenue ledger", "tenue ledger show"} <= paths
    many = sum(len(verb.verbs) + 1 if isinstance(verb, App) else 1 for verb in app.verbs.values())
    assert len(FOUND) == many + 1


def test_what_is_offered_is_what_the_library_takes() -> None:
    from tenue.publish.methods.catalogue import METHODS
    from tenue.publish.synthetic.plan import WAYS

    assert sorted(publish.METHODS) == sorted(METHODS)
    assert set(WAYS) <= set(publish.BY)


def test_zsh_and_fish_are_told_the_same() -> None:
    """Neither shell is on every machine; their scripts are read here."""
    for script in (zsh(FOUND), fish(FOUND)):
        for place in FOUND:
            for one in parameters(app.verbs["publish"]):  # type: ignore[arg-type]
                assert one.names[-1].lstrip("-") in script or one.name == "schema"
            assert all(verb in script for verb in place.verbs)
    assert '"tenue publish --method") compadd -- microaggregate' in zsh(FOUND)
    assert "_files" in zsh(FOUND)
    fishes = fish(FOUND).splitlines()
    (line,) = [one for one in fishes if " publish'" in one and " -l method " in one]
    assert " -r -a 'microaggregate generalise local-suppression" in line
    assert [one for one in fishes if " ledger; and __fish_seen_subcommand_from show'" in one]


def test_the_command_prints_the_script() -> None:
    assert invoke(app, ["completion", "fish"]).stdout == fish(FOUND) + "\n"
    shown = json.loads(invoke(app, ["completion", "bash", "--json"]).stdout)
    assert shown == {"shell": "bash", "script": bash(FOUND)}
