"""What tests of several folders share. The tests import it as ``helpers`` (``pythonpath`` in pyproject.toml)."""
