"""Twenty clients of one server over HTTP: no wrong answer, nothing left over.

CODELENS_HTTP_CROWD_SECONDS sets the duration (default 8, the full run is 300).
"""

from __future__ import annotations

from pathlib import Path

import pytest
from harness_sizes import size_of
from load.http_crowd import http_crowd

SECONDS = size_of("CODELENS_HTTP_CROWD_SECONDS")


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="counts connections in /proc")
def test_a_crowd_over_http_is_answered_rightly_and_leaves_nothing(tmp_path: Path) -> None:
    report = http_crowd(tmp_path, 20, SECONDS, restart_every=10)
    print(dict(report.counts))
    assert not report.faults, report.faults[:5]
    assert report.counts["connections"] >= 20 and report.counts["answers"] > 20
