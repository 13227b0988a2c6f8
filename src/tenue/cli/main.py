"""Runs the verb that was typed; a refusal is three sentences and exit code 2.

An error that nobody foresaw is one sentence and a code; its details go to a file without values.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from ..errors import Fault, Refused
from ..text import hanging
from ..version import VERSION
from . import (
    ask,
    check,
    compare,
    completion,
    demo,
    doctor,
    explain,
    init,
    ledger,
    limits,
    open_table,
    papers,
    publish,
)
from .messages import in_options
from .parser import App

UNFORESEEN = "{place}; what was paid stays paid, and {details}."
_WRITTEN = "the details to report, without values of rows, are in {path}"
_UNWRITTEN = "the details could not be written (TENUE_TRACEBACK=1 shows them, with values of rows)"
TRACEBACK = "TENUE_TRACEBACK"
_MOST_FRAMES = 200

app = App("tenue", "The least noise that keeps the promise.", version=f"tenue {VERSION}")
app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("doctor")(doctor.doctor)
app.command("open")(open_table.open_table)
app.command("explain")(explain.explain)
app.command("ask")(ask.ask)
app.command("limits")(limits.limits)
app.command("publish")(publish.publish)
app.command("check")(check.check)
app.command("compare")(compare.compare)
app.command("papers")(papers.papers)
app.add("ledger", ledger.app)
app.command("completion")(completion.completion_of(app))


def main() -> None:
    """Exit codes: 0 done, 2 refused, 1 our fault; 3 of `check`, `doctor` and `papers`, not as
    required. The message of an unforeseen error may quote a row, so neither it nor a traceback is
    shown or written without `TENUE_TRACEBACK=1`, which is for the holder of the table."""
    as_json = "--json" in sys.argv
    try:
        app(sys.argv[1:])
    except Refused as refusal:
        _refuse(refusal, as_json=as_json)
    except Fault as fault:
        _admit(fault.code, str(fault), as_json=as_json)
    except KeyboardInterrupt:
        sys.stderr.write("Stopped.\n")
        raise SystemExit(1) from None
    except BrokenPipeError:  # the reader has gone; Python flushes standard output at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(1) from None
    except Exception as unforeseen:
        if os.environ.get(TRACEBACK) == "1":
            raise
        code, path, what = unforeseen_fault(unforeseen)
        _admit(Fault.code, what, as_json=as_json, shown=code, details=path)
    raise SystemExit(0)


def _admit(
    code: str, what: str, *, as_json: bool, shown: str | None = None, details: Path | None = None
) -> NoReturn:
    if as_json:
        more = {} if shown is None else {"reference": shown, "details": details and str(details)}
        with suppress(OSError):  # standard output may be the fault
            sys.stdout.write(json.dumps({"fault": {"code": code, **more}}) + "\n")
    sys.stderr.write(f"Something failed on our side ({shown or code}): {what}\n")
    raise SystemExit(1) from None


def unforeseen_fault(error: BaseException) -> tuple[str, Path | None, str]:
    """The code of an error that nobody foresaw, the file that now has its details, and a sentence.

    Guarantee
        Code, file and sentence have the types of the errors and the lines of code that they
        passed, but neither messages nor values. Only this user can read the file. The same fault
        has the same code and file, so that files do not pile up.
    """
    import hashlib

    stack = [line for one in _chain(error) for line in _lines(one)]
    code = "fault-" + hashlib.sha256("\n".join([VERSION, *stack]).encode()).hexdigest()[:8]
    head = [
        f"{code}: an error in Tenue {VERSION} that nobody foresaw. Please report this file.",
        f"Python {sys.version.split()[0]} on {sys.platform}; tenue {_verb()}",
        f"It has no values of rows; {TRACEBACK}=1 shows the error with them.",
    ]
    path = _kept(f"{code}.txt", "\n".join([*head, "", *stack, ""]))
    details = _UNWRITTEN if path is None else _WRITTEN.format(path=path)
    return code, path, UNFORESEEN.format(place=_place(error), details=details)


def _verb() -> str:
    """The verb and the names of the options that were typed, without their values."""
    words = sys.argv[1:]
    verb = words[0] if words and words[0] in app.verbs else "?"
    return " ".join([verb, *(word.partition("=")[0] for word in words if word.startswith("--"))])


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that led to it."""
    seen = set[int]()
    following: BaseException | None = error
    while following is not None and id(following) not in seen:
        seen.add(id(following))
        yield following
        following = following.__cause__ or following.__context__


def _lines(error: BaseException) -> list[str]:
    """The type of an error, and the functions that it passed; not its message."""
    frames = [
        f"  {_module(one)}, line {one.tb_lineno}, in {_function(one)}" for one in _passed(error)
    ]
    return [_kind(error), *frames[-_MOST_FRAMES:]]


def _passed(error: BaseException) -> Iterator[Any]:
    at = error.__traceback__
    while at is not None:
        yield at
        at = at.tb_next


def _kind(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")


def _function(at: Any) -> str:
    return str(at.tb_frame.f_code.co_qualname)


def _module(at: Any) -> str:
    """The file of a frame, without the folders in which it is installed."""
    return "/".join(Path(at.tb_frame.f_code.co_filename).parts[-3:])


def _place(error: BaseException) -> str:
    """The type of an error and the line that raised it, without its values."""
    last = list(_passed(error))[-1:]
    where = [f" in {_module(at).rpartition('/')[2]}, line {at.tb_lineno}" for at in last]
    return type(error).__name__ + "".join(where)


def _kept(name: str, text: str) -> Path | None:
    """Writes a file that only this user can read, in place of an older one; None if it cannot."""
    import tempfile

    state = os.environ.get("XDG_STATE_HOME") or os.path.join("~", ".local", "state")
    with suppress(OSError, RuntimeError):  # of a home that nobody knows
        folder = Path(state).expanduser() / "tenue" / "faults"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(  # readable by this user only
            "w", encoding="utf-8", dir=folder, prefix=".", delete=False
        ) as file:
            file.write(text)
        os.replace(file.name, folder / name)
        return folder / name
    return None


def _fitted(text: str) -> str:
    """Wraps the lines for a terminal, except indented ones, which point at a line above them."""
    if not sys.stderr.isatty():
        return text
    lines = text.splitlines()
    return "".join(f"{line if line.startswith(' ') else hanging(line)}\n" for line in lines)


def _refuse(refusal: Refused, *, as_json: bool) -> NoReturn:
    facts = {key: in_options(text) for key, text in refusal.to_dict().items()}
    if as_json:
        with suppress(OSError):
            sys.stdout.write(json.dumps({"refused": facts}) + "\n")
    else:
        text = "Refused: {what}\n{allowed}\n{fix}\n".format(**facts)
        sys.stderr.write(_fitted(text))
    raise SystemExit(2) from None
