"""Baselines that place agents one by one: they search over the M actions of M agents, as the paper ran them."""
