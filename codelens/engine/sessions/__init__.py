"""Sessions of agents: who asks, what was sent, what was looked at, and the way back into it."""
