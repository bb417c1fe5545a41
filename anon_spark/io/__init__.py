"""Tables, files and hierarchy files: what reads and writes."""
