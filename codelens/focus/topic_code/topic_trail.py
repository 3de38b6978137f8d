"""Which topic a line of the session trail belongs to: that of the last prompt of its session."""

from __future__ import annotations

from codelens.focus.checkout import Checkout
from codelens.focus.forest import Forest, LastTurn
from codelens.focus.topic_code.topic_handles import note
from codelens.trail import trail_log

_LENDING = frozenset({"expanded", "explored", "edited"})
"""What brings code into a topic; what a search or a list of files named was not looked at."""
_OF_A_CALL = 2
_MOST = 12
"""Handles that are looked at before a prompt, each of which may read a file."""
_MOST_SESSIONS = 16


def note_handles(home: str, place: Checkout, forest: Forest, now: float) -> None:
    """Give the topics the code that was read or edited in this worktree since their prompts."""
    if not forest.last:
        return
    worktree = trail_log.worktree_key(place.root)
    latest = LastTurn(forest.last, forest.seen)
    noted: dict[tuple[int, str], float] = {}
    earliest = min((turn.at for turn in (latest, *forest.turns.values())), default=now)
    for entry in trail_log.latest(home, place.repository, since=int(earliest)):
        turn = _turn_of(forest, entry.session, latest)
        at = entry.seconds()
        if (
            turn is None
            or turn.topic not in forest.nodes
            or entry.worktree != worktree
            or entry.tool not in _LENDING
            or not int(turn.at * 1000) <= round(at * 1000) <= now * 1000
        ):
            continue
        for handle in reversed(entry.handles[:_OF_A_CALL]):
            # The latest call last.
            noted.pop((turn.topic, handle), None)
            noted[turn.topic, handle] = at
    for (topic, handle), at in list(noted.items())[-_MOST:]:
        note(forest.nodes[topic], place.root, handle, at)


def _turn_of(forest: Forest, session: str, latest: LastTurn) -> LastTurn | None:
    """The last turn of a session; of a call whose session is not known, the last turn of all."""
    turn = forest.turns.get(session)
    if turn is None and (not session or not forest.turns or "" in forest.turns):
        # Calls of other sessions cannot be told apart where the host names none.
        return latest
    return turn


def remember_turn(forest: Forest, session: str, at: float, *, has_topic: bool) -> None:
    """Keep which topic the prompt of a session was of, and when; after it was taken in.

    Args:
        forest: with the prompt.
        session: as the host names it.
        at: when it came, in seconds since the epoch.
        has_topic: False for "yes" and the like, which stay with what their session had.
    """
    key = trail_log.session_key(session)
    earlier = forest.turns.pop(key, None)
    topic = forest.last if has_topic or earlier is None else earlier.topic
    forest.turns[key] = LastTurn(topic, at)
    for oldest in list(forest.turns)[:-_MOST_SESSIONS]:
        del forest.turns[oldest]
