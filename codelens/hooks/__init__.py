"""What coding agents call at their own events: before a prompt, at a session's start, around tools.

Nothing here may stop an agent: whatever goes wrong is one line in the log, exit code 0 and no
output. The prompt's way imports neither pygit2 nor the engine.
"""
