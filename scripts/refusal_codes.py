"""Writes docs/reference/refusals.md, the page of all codes: python scripts/refusal_codes.py."""

from __future__ import annotations

import re
import string
from pathlib import Path

from tenue.errors import KINDS, catalogue

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference" / "refusals.md"
HEAD = """# Refusals

A refusal is an exception of `tn.Refused` with three sentences: what was wrong, what is allowed, how
to fix it. Its `code` is for programs: it stays when sentences change. Its class says which kind of
refusal it is, and so does `kind` in the JSON of the command line:

```json
{"refused": {"code": "unknown-category", "kind": "invalid-question", "what": "…",
"allowed": "…", "fix": "…"}}
```

A code that names several causes of one kind, such as `missing-grant`, stands in several rows. A
refusal of a single parameter whose value or type is wrong may have the code of its kind. Each …
stands for what was given.

"""


def page() -> str:
    """The page, from the catalogues of the rooms."""
    parts = [HEAD, "| kind | exception |\n|---|---|\n"]
    parts += [f"| `{kind}` | `{found.__name__}` |\n" for kind, found in KINDS.items()]
    for path in sorted((ROOT / "src").rglob("refusals.toml")):
        room = path.parent.name.removeprefix("tenue_")
        parts.append(f"\n## {room}\n\n| code | kind | what was wrong |\n|---|---|---|\n")
        rows = [
            (entry.get("code", key), entry["kind"], shown(entry["what"]))
            for key, entry in catalogue(room).items()
        ]
        parts += [f"| `{code}` | {kind} | {what} |\n" for code, kind, what in sorted(rows)]
    return "".join(parts)


def shown(sentence: str) -> str:
    """A sentence with … for each fact."""
    pieces = string.Formatter().parse(sentence)
    text = "".join(words + ("" if fact is None else "…") for words, fact, _, _ in pieces)
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
