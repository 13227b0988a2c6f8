"""Random words that follow from a key: for machines that must draw the same when they draw again.

The key is drawn from a source (`fresh_key`), once and for one purpose. The functions use nothing
but numpy and what Python and a cipher bring, so they can be sent to machines without Tenue.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from .source import SYSTEM, Source


def fresh_key(source: Source = SYSTEM) -> bytes:
    """A key for the functions here."""
    return source.words(4).tobytes()


def keyed_words(
    key: bytes, names: Iterable[bytes], counts: Iterable[int]
) -> npt.NDArray[np.uint64]:
    """So many words of the stream of each name under this key, one stream after the other.

    Streams of different names are independent. Assumption: SHAKE-256 of key and name is
    indistinguishable from uniform bits.

    Example
        >>> once, again = (keyed_words(b"key", [b"ann", b"bob"], [2, 1]) for _ in range(2))
        >>> len(once), once.tolist() == again.tolist()
        (3, True)
    """
    start = hashlib.shake_256(len(key).to_bytes(2, "big") + key)

    def stream(name: bytes, count: int) -> bytes:
        own = start.copy()
        own.update(name)
        return own.digest(8 * count)

    return np.frombuffer(b"".join(map(stream, names, counts)), dtype=np.uint64)


def numbered_words(key: bytes, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Two words of 64 bits for each number: the same for the same key and number, and no two
    numbers have the same two.

    They put rows into a random order. Assumption: AES-256 of a number cannot be told from uniform
    bits, as for every other draw.

    Example
        >>> words = numbered_words(b"k" * 32, np.array([7, 8, 7]))
        >>> words.shape, words[0].tolist() == words[2].tolist(), words[0, 0] in words[1].tolist()
        ((3, 2), True, False)
    """
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    blocks = np.zeros((numbers.size, 2), np.int64)
    blocks[:, 1] = numbers
    # each number is a block of its own, so that one block is one call of the cipher
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
    return np.frombuffer(encryptor.update(blocks.tobytes()), np.uint64).reshape(-1, 2)
