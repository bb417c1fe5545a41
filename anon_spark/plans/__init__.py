"""DataFrame to DataFrame, lazy; what acts is in materialise.py and fetch.py alone."""
