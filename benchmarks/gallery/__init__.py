"""The papers' systems as this suite computes them: plots, and published numbers beside ours (``./run gallery``)."""
