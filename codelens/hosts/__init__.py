"""Wires coding agents ("hosts") to codelens and takes the wiring out again.

What a host wants stands in `install/hosts/NAME.toml`; the code here knows formats, not hosts.
Start reading at `host_descriptor.py` (what a host wants), `formats/` (one change to one text) and
`host_wiring.py` (install and uninstall; what both leave for the way back: `ledger_records.py`).
"""
