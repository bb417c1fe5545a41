"""What all tasks of a stage are given, unpickled once a worker process: what is found for it (``domain.kept``) is found once too."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

Batches = Iterable[pa.RecordBatch]
_last: list[tuple[str, dict[str, Any]]] = []
"""The arguments that this process was given last, by their digest; one only, so that a worker does not grow with its stages."""


@dataclass(frozen=True)
class SharedWorker:
    """A worker with its other arguments.  data: these, pickled; digest: of data."""

    function: Callable[..., Iterator[pa.RecordBatch]]
    data: bytes
    digest: str

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        if not _last or _last[0][0] != self.digest:
            _last[:] = [(self.digest, pickle.loads(self.data))]
        return self.function(batches, **_last[0][1])


def shared(function: Callable[..., Iterator[pa.RecordBatch]], **arguments: Any) -> SharedWorker:
    """The function of batches with these arguments, as ``functools.partial`` would give it."""
    data = pickle.dumps(arguments, pickle.HIGHEST_PROTOCOL)
    return SharedWorker(function, data, hashlib.sha256(data).hexdigest())
