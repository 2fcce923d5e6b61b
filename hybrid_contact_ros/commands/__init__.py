"""The verbs of ``hybrid-contact``: each has a module, which reads arguments, calls the rooms below, and prints."""
