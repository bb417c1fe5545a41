"""The independent audit: METHODS read a second time, in plain Spark SQL over published columns. Shares no code with the deciders."""
