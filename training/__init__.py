"""Trains the table of word vectors that `codelens.meaning` ships; not part of the wheel.

    python -m training --work FOLDER      # everything: fetch, check, pairs, train, evaluate, write

docs/meaning.md has data, figures and limits.
"""

import os

# One thread: sums run in a fixed order, so the same sources give the same table.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
