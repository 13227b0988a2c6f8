"""A table becomes a publishable table."""

from __future__ import annotations

from .partition import Partition, individual_ranking, mdav, v_mdav

__all__ = ["Partition", "individual_ranking", "mdav", "v_mdav"]
