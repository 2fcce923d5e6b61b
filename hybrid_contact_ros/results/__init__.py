"""What came of a recording, as one file: the tables of a replay, and its summary."""
