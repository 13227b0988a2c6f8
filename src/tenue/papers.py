"""The papers computed again: the public names of `tenue_papers`, as `tn.papers`."""

from typing import TYPE_CHECKING

from tenue_papers import __all__

from ._lazy import lazily

if TYPE_CHECKING:
    from tenue_papers import *  # noqa: F403

lazily(__name__, {"tenue_papers": " ".join(__all__)})
