"""Questions and answers: the public names of the room `ask`, as `tn.query`."""

from typing import TYPE_CHECKING

from ._lazy import lazily
from .ask import __all__

if TYPE_CHECKING:
    from .ask import *  # noqa: F403

lazily(__name__, {"tenue.ask": " ".join(__all__)})
