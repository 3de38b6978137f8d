"""The table of `speed.py`: step, figure, and target."""

from __future__ import annotations

QUERY_AIMS = ((5_000, 30), (12_000, 40), (50_000, 60), (10**9, 80))
"""Maximum number of files, and the target for a query's p95, ms of CPU; the median's is half."""


def codegraph_row(result: dict) -> list[tuple[str, str, str]]:
    if "codegraph" not in result:
        return []
    other, cpu = result["codegraph"], result["codegraph"]["cpu_s"]
    size = f"{other['bytes'] / result['parse_only']['source_bytes']:.2f} of the source"
    ratio = f"codelens takes {result['cold_index']['cpu_s'] / cpu:.2f}x"
    return [
        (
            "codegraph, cold",
            f"{cpu:.2f} s CPU, {other['wall_s']:.1f} s wall, {size}; {ratio}",
            ".35x",
        )
    ]


def rows(result: dict) -> list[tuple[str, str, str]]:
    """The measured steps, their figures, and their targets, if any."""
    parse, cold = result["parse_only"]["cpu_s"], result["cold_index"]
    git_ms = 1000 * result["git_status"]["cpu_s"]

    def share(step: str) -> str:
        cpu, parsed = result[step]["cpu_s"], result[step]["indexed"]
        share = 100 * cpu / cold["cpu_s"]
        return f"{1000 * cpu:.0f} ms CPU, {share:.1f} % of cold, {parsed} texts extracted"

    def cpu_cell(tool: dict[str, float] | None) -> str:
        return f"{1000 * tool['cpu_s']:.0f} ms CPU" if tool else "not installed"

    source = result["parse_only"]["source_bytes"]
    look, p50, p95 = (result[key] for key in ("look_ms", "query_p50_ms", "query_p95_ms"))
    cold_text = (
        f"{cold['cpu_s']:.2f} s CPU ({cold['cpu_s'] / parse:.2f}x parse only), "
        f"{cold['wall_s']:.1f} s wall, {cold['together_mib']:.0f} MiB peak of all processes"
    )
    server_look = result["server_look_ms"]
    p95_aim = next(ms for files, ms in QUERY_AIMS if result["files"] <= files)
    return [
        ("files, source", f"{result['files']:,}, {source / 1e6:.1f} MB", ""),
        ("load before", f"{result['load']:.1f}", ""),
        ("parse only", f"{parse:.2f} s CPU", ""),
        ("cold index", cold_text, "4x parse only"),
        ("index bytes / source bytes", f"{result['index_per_source']:.2f}", ".8"),
        *codegraph_row(result),
        ("universal-ctags -R", cpu_cell(result.get("ctags")), ""),
        ("git status", f"{git_ms:.0f} ms CPU", ""),
        (
            "look, nothing changed",
            f"{look:.0f} ms CPU ({look / git_ms:.2f}x git status)",
            ".5x git status",
        ),
        (
            "look of a server, nothing changed",
            f"{server_look:.0f} ms CPU ({server_look / git_ms:.2f}x git status)",
            "next to nothing",
        ),
        (
            "query p50 / p95, warm, look aside",
            f"{p50:.1f} / {p95:.1f} ms CPU",
            f"{p95_aim // 2} / {p95_aim} ms",
        ),
        (
            "search on the command line, cold",
            f"{1000 * result['cold_cli_search']['cpu_s']:.0f} ms CPU",
            "180 ms",
        ),
        ("ripgrep of the same words", cpu_cell(result.get("ripgrep")), ""),
        (
            "edit to answer on the command line",
            f"{1000 * result['edit_to_answer']['cpu_s']:.0f} ms CPU",
            "150 ms without start and check",
        ),
        ("switch to a new branch", share("new_branch"), ""),
        ("and back", share("branch_back"), ""),
        ("and there again", share("branch_again"), ""),
        ("second worktree", share("second_worktree"), ""),
        ("memory, serving", f"{result['serving_rss_mib']:.0f} MiB", "150 MiB (Linux: 400)"),
    ]
