"""Raw cells and the parts of a recoding of coded cells."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_spark.domain.recoding import LocalRecoding
from anon_spark.job.gather import RawCells
from anon_spark.job.parts import parts_of
from anon_spark.plans.block_lines import DEALT, FROM, GROUP, TO
from anon_spark.plans.frequency import ROWS
from anon_spark.plans.publish_local import NOWHERE

CELLS = st.lists(st.tuples(st.sampled_from(["a", "b", "c", "", None]), st.integers(1, 5)), min_size=1, max_size=8)


def recoding(parts: list[tuple[int, int, int]]) -> LocalRecoding:
    """Of parts (cell, group, rows), those of group 2 being suppressed."""
    kept, lost = (sorted(part for part in parts if (part[1] == 2) == out) for out in (False, True))
    cell, group, held = (np.array([part[x] for part in kept], np.int64) for x in range(3))
    none = np.zeros((0, 1), np.int32)
    return LocalRecoding(
        cell=cell, group=group, held=held, low=none, high=none, size=none, loss=0, by_column=(),
        lost_cell=np.array([part[0] for part in lost], np.int64), lost=np.array([part[2] for part in lost], np.int64),
    )  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(CELLS, st.randoms(use_true_random=False))
def test_ranges_tile_every_raw_cell_and_give_every_group_its_rows(lines: list, random: object) -> None:
    """Of coded cells a few raw ones are spellings; the same text may stand on two lines."""
    place = {text: random.randrange(3) for text, _ in lines}  # type: ignore[attr-defined]
    numbers = {p: i for i, p in enumerate(sorted(set(place.values())))}
    rows = Counter()
    for text, n in lines:
        rows[numbers[place[text]]] += n
    parts = []
    for cell, n in rows.items():
        cuts = sorted({0, n, *(random.randrange(n + 1) for _ in range(2))})  # type: ignore[attr-defined]
        parts += [(cell, group, b - a) for group, (a, b) in enumerate(pairwise(cuts))]
    texts, counts = zip(*lines, strict=True)
    raw = RawCells(
        pa.table({"__anon_q0": pa.array(texts, pa.string()), ROWS: pa.array(counts, pa.int64())}),
        np.array([numbers[place[text]] for text in texts], np.int64),
    )
    found = parts_of(raw, recoding(parts))
    given_rows: Counter = Counter()
    spans: dict = {}
    for line in found.table.to_pylist():
        given_rows[numbers[place[line["__anon_q0"]]], 2 if line[GROUP] == NOWHERE else line[GROUP]] += line[TO] - line[FROM]
        spans.setdefault(line["__anon_q0"], []).append((line[FROM], line[TO], line[DEALT]))
    assert given_rows == Counter({(cell, group): n for cell, group, n in parts})
    of_text = Counter()
    for text, n in lines:
        of_text[text] += n
    for text, n in of_text.items():
        ranges = sorted(spans[text])
        assert [a for a, _, _ in ranges] == [0, *(b for _, b, _ in ranges[:-1])] and ranges[-1][1] == n
        assert all(a < b for a, b, _ in ranges) and {dealt for *_, dealt in ranges} == {len(ranges) > 1}
    assert found.deals == any(len(ranges) > 1 for ranges in spans.values())
    turned = RawCells(raw.table.take(list(range(len(lines)))[::-1]), raw.place[::-1])
    assert parts_of(turned, recoding(parts)).table.equals(found.table)
