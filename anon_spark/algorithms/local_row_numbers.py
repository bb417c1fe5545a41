"""Texts of rows as numbers on their way through blocks: a few whole numbers a row in place of a text and a code a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anon_spark.domain.problem import Problem
from anon_spark.kernels.rollup import WIDEST_KEY

PREFIX = 32
"""Bits of a row's first word that are part of what it is sorted by."""


@dataclass(frozen=True, eq=False)
class ColumnNumbers:
    """The distinct texts of a column, numbered in the order of their codes, and among equal codes of the texts, null first.

    texts: (n,) string array; code: (n,) int32 of each; own: whether every text has a code of its own, which then is its number.
    """

    texts: pa.Array
    code: np.ndarray
    own: bool

    @staticmethod
    def of(codes: Mapping[str | None, int]) -> ColumnNumbers:
        """Of texts with their codes."""
        ordered = sorted(codes.items(), key=lambda pair: (pair[1], pair[0] is not None, pair[0] or ""))
        code = np.array([number for _, number in ordered], np.int32)
        return ColumnNumbers(pa.array([text for text, _ in ordered], pa.string()), code, bool((code == np.arange(len(code))).all()))

    def codes(self, number: np.ndarray) -> np.ndarray:
        """(m,) int32 codes of numbers (m,)."""
        return number if self.own else self.code[number]


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """All columns' numbers, quasi-identifiers first, and how they are packed: as many side by side in a word of 62 bits as it holds.

    words: (first column, last column + 1) of each word. The words in their order, and the numbers within one, sort like the numbers, so
    like the codes. quasi: how many of the columns are quasi-identifiers.
    """

    columns: tuple[ColumnNumbers, ...]
    quasi: int
    words: tuple[tuple[int, int], ...]

    @staticmethod
    def of(problem: Problem) -> RowNumbers:
        """Of a problem's texts."""
        known: list[Mapping[str | None, int]] = [h.codes for h in problem.hierarchies]
        known += [{text: number for number, text in enumerate(column)} for column in problem.values]
        columns = tuple(ColumnNumbers.of(codes) for codes in known)
        return RowNumbers(columns, len(problem.hierarchies), tuple(words_of([len(column.code) for column in columns])))

    @cached_property
    def spans(self) -> list[int]:
        """How many numbers each column has."""
        return [max(len(column.code), 1) for column in self.columns]

    def packed(self, numbers: Sequence[np.ndarray]) -> list[np.ndarray]:
        """(m,) int64 words of the columns' numbers (m,)."""
        found = []
        for first, end in self.words:
            word = numbers[first].astype(np.int64)
            for j in range(first + 1, end):
                word = word * self.spans[j] + numbers[j]
            found.append(word)
        return found

    def unpacked(self, words: Sequence[np.ndarray]) -> list[np.ndarray]:
        """(m,) int32 numbers of each column."""
        found: list[np.ndarray] = [np.zeros(0, np.int32)] * len(self.columns)
        for word, (first, end) in zip(words, self.words, strict=True):
            for j in range(end - 1, first, -1):
                word, rest = np.divmod(word, self.spans[j])
                found[j] = rest.astype(np.int32)
            found[first] = word.astype(np.int32)
        return found

    def prefix(self, word: np.ndarray) -> np.ndarray:
        """(m,) the leading ``PREFIX`` bits of the first word (m,): in its order, if coarser."""
        first, end = self.words[0]
        span = prod(self.spans[first:end])
        return word >> max((span - 1).bit_length() - PREFIX, 0)

    def codes(self, numbers: Sequence[np.ndarray]) -> np.ndarray:
        """(m, c) int32 codes of all columns, of sensitive ones their numbers."""
        lines = np.empty((len(numbers[0]), len(numbers)), np.int32)
        for j, (column, number) in enumerate(zip(self.columns, numbers, strict=True)):
            lines[:, j] = column.codes(number)
        return lines


def words_of(widths: Sequence[int]) -> list[tuple[int, int]]:
    """Columns of so many numbers each, as many to a word as it holds: (first, last + 1)."""
    words, first, span = [], 0, 1
    for j, width in enumerate(widths):
        if span * max(width, 1) > WIDEST_KEY and j > first:
            words.append((first, j))
            first, span = j, 1
        span *= max(width, 1)
    return [*words, (first, len(widths))]


class LookUp:
    """Numbers of a column's texts, -1 for one that is not known."""

    def __init__(self, column: ColumnNumbers):
        known = column.texts.is_valid().to_numpy(zero_copy_only=False)
        self.texts = column.texts.filter(pa.array(known))
        # what is not found is looked up at the end
        self.number = np.append(np.flatnonzero(known), -1).astype(np.int32)
        nulls = np.flatnonzero(~known)
        self.null = int(nulls[0]) if len(nulls) else -1

    def numbers(self, texts: pa.ChunkedArray) -> np.ndarray:
        """(m,) int32."""
        column = texts.combine_chunks().cast(pa.string())
        at = pc.fill_null(pc.index_in(column, value_set=self.texts), len(self.texts)).to_numpy(zero_copy_only=False)
        found = self.number[at]
        if column.null_count:
            found[pc.is_null(column).to_numpy(zero_copy_only=False)] = self.null
        return found
