"""The command line: logging, session, progress and exit codes live here only."""
