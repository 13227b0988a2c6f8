"""Words that follow from a key, wherever and however often they are drawn."""

from __future__ import annotations

import numpy as np

from tenue.noise.keyed import numbered_words


def test_words_of_numbers_follow_from_key_and_number_alone() -> None:
    """Not from the batch in which a number comes, nor from its place there."""
    key, numbers = b"k" * 32, np.array([5, 1 << 50, 0, 7])
    words = numbered_words(key, numbers)
    assert words.shape == (4, 2)
    assert (numbered_words(key, numbers[::-1]) == words[::-1]).all()
    assert (numbered_words(key, numbers[2:3]) == words[2:3]).all()
    assert numbered_words(key, numbers[:0]).shape == (0, 2)
    assert (numbered_words(b"l" * 32, numbers) != words).all()
    many = numbered_words(key, np.arange(10_000))
    assert len(np.unique(many, axis=0)) == 10_000
    assert abs(np.mean(many[:, 0] >= 1 << 63) - 0.5) < 0.05
