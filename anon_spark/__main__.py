"""``python -m anon_spark`` is the command ``anon-spark``."""

from anon_spark.cli.main import main

if __name__ == "__main__":
    main()
