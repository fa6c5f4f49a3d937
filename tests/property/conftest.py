"""How hypothesis runs here: no deadline (shared machines stall), and few enough examples for an everyday run."""

from hypothesis import settings

settings.register_profile("everyday", deadline=None, max_examples=60)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile("everyday")
