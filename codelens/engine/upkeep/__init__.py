"""Upkeep of indexes: pruning, dropping, pinning, packs, usage counts, and the doctor's checks."""
