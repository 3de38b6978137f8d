"""Wires coding agents ("hosts") to codelens and takes the wiring out again.

What a host wants stands in `install/hosts/NAME.toml`; the code here knows formats, not hosts.
Start reading at `descriptor.py` (what is wanted), `edits.py` (one change to one text) and
`wiring.py` (install and uninstall; what both leave for the way back is in `recording.py`).
"""
