"""The session trail: which definitions were looked at and edited, one line for each call."""
