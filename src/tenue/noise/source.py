"""The only origin of random bits.

Every call takes a fresh 256-bit key from the operating system and stretches it with AES in counter
mode. Nothing is kept between calls, so two threads never share a stream, a forked child never
repeats its parent, and a captured memory image tells nothing about earlier draws.

Assumption, listed in certificates: the AES stream cannot be told from uniform bits.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ..errors import refuse

Bits = Literal[8, 16, 32, 64]
_WORD: dict[int, npt.DTypeLike] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
_ZEROS = memoryview(bytes(1 << 18))
_BLOCK = 16


class Source(Protocol):
    """Where uniform words come from. `safe` says whether a release may use them."""

    @property
    def safe(self) -> bool: ...

    def words(self, count: int, bits: Bits = 64) -> npt.NDArray[Any]: ...


def _stretch(key: bytes, counter: int, size: int) -> npt.NDArray[np.uint8]:
    """`size` bytes of the AES-256-CTR stream of `key` from block `counter` on."""
    # loaded here: a single answer needs fewer bytes than are worth a cipher
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    encryptor = Cipher(algorithms.AES(key), modes.CTR(counter.to_bytes(_BLOCK, "big"))).encryptor()
    stream = np.empty(size + _BLOCK, dtype=np.uint8)
    view = memoryview(stream.data)
    for start in range(0, size, len(_ZEROS)):
        encryptor.update_into(_ZEROS[: size - start], view[start:])
    return stream[:size]


class OperatingSystem:
    """Random words from the operating system's entropy; the source of every release."""

    safe = True

    def words(self, count: int, bits: Bits = 64) -> npt.NDArray[Any]:
        size = count * bits // 8
        if size <= 256:  # a key would cost more than the bytes themselves
            return np.frombuffer(os.urandom(size), dtype=_WORD[bits])
        return _stretch(os.urandom(32), 0, size).view(_WORD[bits])


class Seeded:
    """A repeatable source, for tests only. Everything that releases refuses it.

    Example
        >>> Seeded(7).words(2, 8).tolist() == Seeded(7).words(2, 8).tolist()
        True
    """

    safe = False

    def __init__(self, seed: int) -> None:
        self._key = hashlib.sha256(f"tenue seeded source {seed}".encode()).digest()
        self._block = 0
        self._lock = threading.Lock()

    def words(self, count: int, bits: Bits = 64) -> npt.NDArray[Any]:
        size = count * bits // 8
        with self._lock:
            start = self._block
            self._block += -(-size // _BLOCK)
        return _stretch(self._key, start, size).view(_WORD[bits])


def keyed_words(
    key: bytes, names: Iterable[bytes], counts: Iterable[int]
) -> npt.NDArray[np.uint64]:
    """So many words of the stream of each name under this key, one stream after the other.

    For machines that cannot share a source and must draw the same when they draw again. The key is
    drawn from a source (`fresh_key`), once and for one purpose; then streams of different names are
    independent. Assumption: SHAKE-256 of key and name cannot be told from uniform bits.

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

    For machines that put rows into a random order and must find the same order when they do it
    again. The key is drawn from a source (`fresh_key`), once and for one order. Assumption: AES-256
    of a number cannot be told from uniform bits, as for every other draw.

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


SYSTEM = OperatingSystem()
"""The source used when none is given."""


def require_safe(source: Source) -> Source:
    """Refuses a repeatable source wherever something is about to be released."""
    if not source.safe:
        raise refuse("noise.source-of-randomness-is-which-can-be", type=type(source).__name__)
    return source


def fresh_key(source: Source = SYSTEM) -> bytes:
    """A key for `keyed_words`."""
    return source.words(4).tobytes()
