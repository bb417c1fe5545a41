"""Keys of the whole configuration that the job has no meaning for."""

from __future__ import annotations

from anon_spark.config.draft import Draft
from anon_spark.config.notes import Notes


def check_job(draft: Draft, notes: Notes) -> None:
    """Note keys that the job would pass over in silence; their defaults say nothing and may stand."""
    keys, job = draft.top.keys, draft.job
    if keys is None or job is None:
        return
    if job == "lattice" and keys.numeric == "bounds":
        notes.add(("numeric",), "'bounds'", advice="numeric bounds in job lattice is not built yet")
    if job == "lattice" and keys.bounds != "tight":
        notes.add(("bounds",), f"{keys.bounds!r} in job lattice", "it in jobs of local recoding", "a level's intervals are its bounds")
    if job != "lattice" and keys.loss != "gcp" and "loss" not in draft.top.bad:
        notes.add(("loss",), f"{keys.loss!r} in job {job}", "it in job lattice", "this job makes gcp small; the report tells all five")
