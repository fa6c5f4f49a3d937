"""Baselines of today that search over the distribution, as a user without mfbo would."""
