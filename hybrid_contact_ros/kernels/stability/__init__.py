"""Whether contacts stay closed: constraint stability, pseudo-impulses, the end of chatter."""
