"""Requests of every kind to one server over HTTP leave nothing in its memory.

CODELENS_HTTP_FLOOD sets their number (default 2,100, the full run is 100,000).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from harness_sizes import size_of
from load.http_flood import http_flood

REQUESTS = size_of("CODELENS_HTTP_FLOOD")
_SPARE_KB = 2 * 1024
"""What rejected requests may add; the number below added 8 MB when each opened a session."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads memory in /proc")
def test_a_flood_is_answered_and_rejected_requests_leave_nothing(tmp_path: Path) -> None:
    flood = http_flood(tmp_path, REQUESTS, rejected=4_000)
    for kind, status in flood.statuses:
        assert status < 500, (kind, status)
    assert len(flood.statuses) == len(flood.kinds()), flood.statuses
    assert flood.grown_kb() < _SPARE_KB, flood.resident_kb
    assert not flood.logged
