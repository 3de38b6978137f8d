"""What a person has been asking for: a forest of topics, and the block shown beside a prompt.

A prompt hook may cost 60 ms of CPU, of which Python alone takes 12 to 15. So nothing here imports
`dataclasses`, `pathlib`, `logging`, `codelens.errors` or `codelens.config`.
"""
