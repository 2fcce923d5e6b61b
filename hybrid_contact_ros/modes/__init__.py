"""Which contacts hold: complementarity over contact modes (Johnson, Burden, Koditschek)."""
