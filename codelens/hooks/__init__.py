"""Answers events of coding agents: before a prompt, at a session's start, around tools.

Nothing here may stop an agent: any error becomes one line in the log, with exit code 0 and no
output. The prompt hook imports neither pygit2 nor the engine.
"""
