"""Files that are no schema at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenue.errors import InvalidArgument, InvalidSchema
from tenue.schema import Mistake, Schema
from unit.schema.wrong import AGE, TABLE, mistakes

GOOD = TABLE + AGE


def refusal_of(path: Path) -> tuple[str, Mistake]:
    with pytest.raises(InvalidSchema) as refused:
        Schema.load(path)
    found = refused.value.mistakes
    assert isinstance(found, tuple)
    assert len(found) == 1
    return str(refused.value), found[0]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[table\n", 1),
        ("[table]\nname = \n", 2),
        ("[table]\nname = 'a'\nname = 'b'\n", 3),
        ("[table]\n[table]\n", 2),
        ("[table]\nname = 'a' unit = 'b'\n", 2),
        ("[table]\r\nname = 'a'\r\nunit\r\n", 3),
        ("a = 1\nb = 2020-13-45\n", 2),
        ('a = 1\nb = """\n\n', 4),
        ("a = 1\n\nb = [1,\n", 4),
        ("a = " + "9" * 5000 + "\n", 2),
    ],
)
def test_what_is_not_toml_is_refused_with_its_line(text: str, line: int) -> None:
    found = mistakes(text)
    assert len(found) == 1
    assert found[0].line == line
    assert "at line" not in found[0].what


@pytest.mark.parametrize(
    "text",
    [
        "a = " + "[" * 5000,
        "a = " + "[" * 5000 + "]" * 5000,
        "a = " + "{ b = " * 3000 + "1" + "}" * 3000,
        "a" + ".a" * 2000 + " = 1",
        "[a" + ".a" * 2000 + "]",
        "columns.x = " + "[" * 41 + "]" * 41,
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    assert mistakes(text)


def test_files(tmp_path: Path) -> None:
    text, mistake = refusal_of(tmp_path / "absent.toml")
    assert text.startswith("absent.toml: There is no such file.")
    assert "absent.toml" in text
    assert str(tmp_path) not in text
    assert mistake.line is None
    assert refusal_of(tmp_path)[1].what == "There is no such file."
    (tmp_path / "latin.toml").write_bytes(b"[table]\n# ok\nname = '\xe9'\n")
    assert refusal_of(tmp_path / "latin.toml")[1].line == 3
    (tmp_path / "large.toml").write_text(GOOD + "#" * 10**6)
    assert refusal_of(tmp_path / "large.toml")[1].what == "It is too large."
    assert refusal_of(Path("a\0b"))[1].line is None


def test_a_file_just_small_enough_loads(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(GOOD + "#" * (10**6 - len(GOOD)))
    assert Schema.load(tmp_path / "s.toml").name == "census"
    with pytest.raises(InvalidSchema):
        Schema.parse(GOOD + "#" * 10**6)


def test_a_byte_order_mark_and_windows_line_ends_load(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert Schema.load(str(tmp_path / "s.toml")) == Schema.parse(GOOD)
    with pytest.raises(InvalidSchema) as refused:
        Schema.parse(GOOD.replace("\n", "\r\n").replace("120", "-1"))
    assert refused.value.mistakes[0].line == 8  # type: ignore[index]


@pytest.mark.parametrize("path", [None, 3, b"x", ["a"]])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(InvalidArgument):
        Schema.load(path)


@pytest.mark.parametrize("folder", [None, 3, b"x"])
def test_what_is_no_folder_is_refused(folder: str) -> None:
    with pytest.raises(InvalidArgument):
        Schema.parse(GOOD, folder=folder)
    with pytest.raises(InvalidArgument):
        Schema.from_dict({}, folder=folder)
    with pytest.raises(InvalidArgument):
        Schema.parse(GOOD).save(folder)


@pytest.mark.parametrize("text", [None, 3, b"x"])
def test_what_is_no_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument):
        Schema.parse(text)
