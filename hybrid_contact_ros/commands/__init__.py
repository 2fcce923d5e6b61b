"""The verbs of ``hybrid-contact``, one module each."""
