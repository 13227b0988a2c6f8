"""The certificate of a release: a function of method and schema, never of rows."""

from __future__ import annotations

from ..promise import Certificate, KAnonymity, ProbabilisticKAnonymity, Promise
from ..promise.certificate import ONE_RECORD, STREAM
from ..promise.certificate import certify as certified
from ..schema import Schema
from ..schema.table import RECORD
from ..screen.number import exactly, named
from .method.method import Method

_MECHANISMS = {
    "mdav": "microaggregation: MDAV groups, centres instead of quasi-identifiers",
    "v-mdav": "microaggregation: V-MDAV groups, centres instead of quasi-identifiers",
    "quasi-identifiers": "swapping in MDAV groups of the quasi-identifiers",
    "each-confidential": "swapping in groups of similar values of each confidential column",
    "other-attributes": "swapping in MDAV groups of all other columns, one column after another",
}
_SOURCES = {
    "mdav": "Soria-Comas, thesis, section 2.8 (Algorithm 2.1)",
    "v-mdav": "Soria-Comas, thesis, sections 2.8 and 3.3.1; Solanas and Martínez-Ballesté 2006",
    "quasi-identifiers": "Soria-Comas, thesis, section 3.3.1",
    "each-confidential": "Soria-Comas, thesis, section 3.3.3",
    "other-attributes": "Soria-Comas, thesis, section 3.3.2",
}
AS_STORED = (
    "Identifiers are compared as they are stored, byte by byte: two spellings of one name are two "
    "persons."
)
KNOWN = (
    "The intruder knows quasi-identifiers and how groups are formed, and of confidential columns "
    "nothing by which some records of a group are likelier than others."
)

NOT_PRIVACY = "It is not differential privacy."
TWICE = (
    "It does not survive a second publication of the table or of a changed one: the record that "
    "changed is recovered exactly."
)
HOMOGENEOUS = "Where all of a group share one confidential value, that value is disclosed."
AS_THEY_ARE = "Columns that are not quasi-identifiers are published as they are."
PRESENCE = (
    "That a person is in the release is not hidden: columns that are not confidential are "
    "published as they are, and every confidential value of a published row is in the release, "
    "rounded to its grid and kept between its declared bounds."
)
LEFT_OUT = "Completeness: rows without a value in {names} are not in the release."
UNPROTECTED = (
    "Nothing protects {names}: its role is other, and it is published as it is. Whoever knows it "
    "of a person may find the person's row by it."
)
UNPROTECTED_ALL = (
    "Nothing protects {names}: their role is other, and they are published as they are. Whoever "
    "knows them of a person may find the person's row by them."
)
CLOSE = "A published value can be close to the true one, or equal to it."
VERY_CLOSE = (
    "A published value is close to the true one: on the Census reference table with k = 10, 95 % "
    "of the values miss the truth by at most 1 % of their column's range, 66 % by at most 1 % of "
    "the value itself."
)
GUESS = (
    "Whoever can guess a value from what else is known of a person may recognise it among the "
    "values of the group."
)
INFORMED = (
    "Groups were formed from confidential columns too. Whoever knows one of them may see in the "
    "release who shared a group, and with it learn about the columns by which groups were formed: "
    "more than 1/k, up to certainty in small groups."
)
GROWN = (
    "Groups were made larger where {asked} was not reached. Whoever knows the method can tell "
    "which groups were, and so that their first members lacked it: with a small l that can be the "
    "one value which they share."
)
CROSSED = (
    "Columns have groups of different sizes. Where one column tells much about another, as income "
    "does about tax, the groups of both together leave fewer than k records, down to one; equal "
    "sizes, or groups nested in each other, do not."
)
UNREGISTERED = (
    "It is registered in no ledger, so nothing keeps a second release of the table from leaving."
)
COUNTED = "The number of published rows is not hidden, whatever neighbours the schema declares."
LAST = "Whoever knows the values of all other members of a group knows the last one."
RELATIONS = (
    "Each confidential column changes places on its own: relations between them inside a group are "
    "lost."
)
ROWS_OF_ONE = (
    "How many rows a person has is not hidden. Everybody counts once for each different value of "
    "his rows: a value that every person of a group has in some row is disclosed like the one "
    "value of a group."
)
DIFFERENT = "at least {l} different values of {names} in each group"
NEEDED = "it takes at least {l} values of {names} for everybody of a group to have one of them"


def certify(method: Method, schema: Schema, *, registered: bool) -> Certificate:
    """What is promised about a release."""
    swaps = method.name == "swap"
    promise: Promise = ProbabilisticKAnonymity(method.least) if swaps else KAnonymity(method.least)
    parameters = {
        "method": method.name,
        "by": method.by,
        "k": _sizes(method),
        "quasi-identifiers": ", ".join(method.quasi),
        "confidential": ", ".join(method.confidential),
        "unprotected": ", ".join(method.unprotected),
    }
    grown = ", ".join(method.sensitive or method.confidential)
    if method.gamma is not None:
        parameters["gamma"] = exactly(method.gamma)
    if method.l is not None:
        said = DIFFERENT if schema.unit == RECORD else NEEDED
        parameters["l"] = said.format(l=method.l, names=grown)
    if method.t is not None:
        parameters["t"] = (
            f"earth mover's distance of {grown} at most {exactly(method.t)} in each group"
        )
    if method.override:
        parameters["override"] = ", ".join(sorted(method.override))
    parameters["registered"] = "yes" if registered else "no, in no ledger"
    assumptions = [STREAM]
    if schema.unit == RECORD:
        assumptions.append(ONE_RECORD)
    if schema.identifiers or schema.unit != RECORD:
        assumptions.append(AS_STORED)
    if swaps:
        assumptions.append(KNOWN)
    limits = [NOT_PRIVACY, TWICE, HOMOGENEOUS]
    asked = [name for name, given in (("l", method.l), ("t", method.t)) if given is not None]
    if asked:
        limits.append(GROWN.format(asked=" or ".join(asked)))
    if method.by == "other-attributes":
        limits.append(INFORMED)
    if len(set(method.k.values())) > 1:
        limits.append(CROSSED)
    if swaps:
        near = VERY_CLOSE if method.by == "each-confidential" else CLOSE
        limits += [PRESENCE, near, GUESS, LAST, RELATIONS]
    else:
        limits.append(AS_THEY_ARE)
    if method.unprotected:
        said = UNPROTECTED if len(method.unprotected) == 1 else UNPROTECTED_ALL
        limits.append(said.format(names=named(method.unprotected)))
    gaps = [name for name in method.compared if schema.columns[name].missing is None]
    if gaps:
        limits.append(LEFT_OUT.format(names=named(gaps)))
    if schema.unit != RECORD:
        limits.append(ROWS_OF_ONE)
    limits.append(COUNTED)
    if not registered:
        limits.append(UNREGISTERED)
    return certified(
        promise,
        schema,
        _MECHANISMS[method.by],
        parameters,
        [_SOURCES[method.by]],
        assumptions,
        limits,
    )


def _sizes(method: Method) -> str:
    sizes = set(method.k.values())
    if len(sizes) == 1:
        return str(sizes.pop())
    return ", ".join(f"{name}: {size}" for name, size in method.k.items())
