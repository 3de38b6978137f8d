"""Configures coding agents ("hosts") to use codelens, and removes that configuration.

`install/hosts/NAME.toml` describes a host; the code here knows formats, not hosts. Start reading at
`host_descriptor.py` (the description of a host), `formats/` (one change to one text) and
`host_wiring.py` (install and uninstall); `install_ledger.py` has the records for uninstall.
"""
