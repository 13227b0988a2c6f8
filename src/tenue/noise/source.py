"""The only origin of random bits.

Every call takes a fresh 256-bit key from the operating system and stretches it with AES in counter
mode. Nothing is kept between calls, so two threads never share a stream, a forked child never
repeats its parent, and a captured memory image reveals nothing about earlier draws.

Assumption, listed in certificates: the AES stream is indistinguishable from uniform bits.
"""

from __future__ import annotations

import hashlib
import os
import threading
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


SYSTEM = OperatingSystem()
"""The source used when none is given."""


def require_safe(source: Source) -> Source:
    """Refuses a repeatable source wherever something is about to be released."""
    if not source.safe:
        raise refuse("noise.repeatable-randomness", type=type(source).__name__)
    return source
