"""Where the velocity may go: single outcomes and sets of outcomes of impacts (Halm and Posa; Johnson et al.)."""
