"""Asks Python to look rarely for values that hold each other: once this is imported, before others.

A build makes hundreds of thousands of values, what is imported among them, and few that hold each
other. To look for those at every seven hundredth value, as Python does, takes a good part of a
large build, and of loading this package.
"""

import atexit
import gc

gc.set_threshold(100_000, 20, 100)
atexit.register(
    gc.freeze
)  # or it looks at the end through all that is held, of which nothing stays
