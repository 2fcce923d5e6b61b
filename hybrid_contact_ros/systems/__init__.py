"""The papers' textbook systems, one short file each."""
