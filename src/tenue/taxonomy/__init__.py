"""Categories in a taxonomy: which concept is more general than which, and semantic distances.

A taxonomy is a set of concepts below one root; a concept may have several parents. A *category* is
a label that rows may hold, attached to one concept. Everything here is public knowledge: nothing in
this room reads a row, and every order and every distance is a function of the taxonomy alone.

Taxonomy          the value: order, distances, marginality, digest
DISTANCE_STEPS    entries of the rational table of distances are whole multiples of 1 over this
LARGEST_FILE      the largest size of a taxonomy file, in bytes
MOST_CONCEPTS     the largest number of concepts

Source
    Soria-Comas' thesis, sections 6.3.4 and 6.3.5, equations 6.1 to 6.4 and 6.6, with the candidates
    and the diameter corrected.
"""

from .distance import DISTANCE_STEPS
from .file import LARGEST_FILE
from .graph import MOST_CONCEPTS
from .taxonomy import Taxonomy

__all__ = ["DISTANCE_STEPS", "LARGEST_FILE", "MOST_CONCEPTS", "Taxonomy"]
