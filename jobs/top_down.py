"""Anonymize a table as a configuration file says: ``spark-submit jobs/top_down.py CONF [--set KEY=VALUE]...``."""

import sys

from anon_spark.cli.main import main

if __name__ == "__main__":
    main(["run", *sys.argv[1:]])
