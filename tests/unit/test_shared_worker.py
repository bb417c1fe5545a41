"""What all tasks of a stage are given is unpickled once a process, and goes when another stage's comes."""

from __future__ import annotations

import pickle

from anon_spark.kernels import shared
from anon_spark.kernels.shared import shared as shared_worker


def worked(batches: list[int], seen: list[int]) -> list[tuple[int, int]]:
    return [(batch, id(seen)) for batch in batches]


def test_arguments_are_unpickled_once_a_process_and_one_set_is_kept() -> None:
    first, second = shared_worker(worked, seen=[1, 2]), shared_worker(worked, seen=[3])
    # every task has its own copy of the worker
    tasks = [pickle.loads(pickle.dumps(first)) for _ in range(3)]
    found = {task([7])[0] for task in tasks}
    assert len(found) == 1 and next(iter(found))[0] == 7
    assert shared._last[0][1] == {"seen": [1, 2]}
    assert second([8])[0][0] == 8 and [kept for _, kept in shared._last] == [{"seen": [3]}]
    assert first.digest == shared_worker(worked, seen=[1, 2]).digest != second.digest
