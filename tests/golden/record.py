"""Records what Tenue does today: python tests/golden/record.py THEME [FILE].

A golden is a promise that behaviour did not change. Recording again breaks it: do so only for a
change of behaviour that is meant, one theme at a time, read the difference line by line, and give
the reason in the commit message. With FILE, writes there instead, to compare by hand.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "src")]


def main() -> None:
    kit = importlib.import_module("golden.kit")
    known = sorted(p.stem for p in HERE.glob("*.py") if "THEME = " in p.read_text())
    if len(sys.argv) < 2 or sys.argv[1] not in known:
        raise SystemExit(f"{__doc__}\nThemes: {', '.join(known)}")
    theme = importlib.import_module(f"golden.{sys.argv[1]}").THEME
    found = {name: kit.produce(theme, name) for name in sorted(theme.cases)}
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else theme.file
    target.write_text(kit.written(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
