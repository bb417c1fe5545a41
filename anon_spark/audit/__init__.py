"""The independent audit: METHODS read again, in plain Spark SQL over published columns. Shares no code with the deciders."""
