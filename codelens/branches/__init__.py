"""Branches as objects: what differs by definition, since when, and what will collide."""
