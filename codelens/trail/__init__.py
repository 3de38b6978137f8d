"""The session trail: which definitions were viewed and edited, one line for each call."""
