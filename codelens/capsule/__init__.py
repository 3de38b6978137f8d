"""The capsule: which code a task needs, packed into a number of tokens. Pure functions.

A package of its own below `engine`, since nothing in it knows a view, a store or a graph: it is
given definitions with their lines and values, and says which lines are shown.
"""
