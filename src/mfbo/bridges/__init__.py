"""Ways into other libraries: ``bridges.sklearn``, ``bridges.botorch`` and ``bridges.optuna``, in their words.

None is imported by mfbo itself; ``pip install "mfbo[bridges]"`` brings all three libraries.
"""
