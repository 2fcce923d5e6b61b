"""An impact as a differential inclusion in continuous time (Halm, section 4)."""
