"""Checks the packaged extension in a real VS Code: looks for each feature in the browser.

    npm install code-server            # VS Code as a server; docs/vscode.md names what it needs
    pip install playwright             # Chromium is the system's, by --chromium
    (cd editors/vscode && npm ci && npm run package)
    python benchmarks/vscode_tour.py --code-server node_modules/.bin/code-server \
        --vsix editors/vscode/*.vsix --shots /tmp/shots

Installs the .vsix into a separate code-server, on a repository with two worktrees that change the
same function. Checks the status bar, lines above definitions, hover, every command, the view of
results, and the MCP server in VS Code's own list. Prints `ok` or `MISSING` for each, and what it
found instead; exits with 1 if anything is missing. No test runs it: it needs a browser and half a
gigabyte.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Error, Page, sync_playwright
from ui_tour import made_repository

WAIT_S = 60.0
ROWS = ".pane-body .monaco-list-row"
PANEL = ".part.panel"


class EditorTour:
    """A VS Code window, and the results of the checks in it."""

    def __init__(self, page: Page, shots: Path | None) -> None:
        self._page, self._shots = page, shots
        self.missing = 0

    def look(self, name: str, selector: str, *wanted: str, wait_s: float = WAIT_S) -> None:
        """Waits until texts of a selector match every pattern; returns whether they did."""
        until = time.monotonic() + wait_s
        text = ""
        while time.monotonic() < until:
            try:
                text = " | ".join(self._page.locator(selector).all_inner_texts())
                text = text.replace("\u00a0", " ")
            except Error:
                text = ""  # It was redrawn meanwhile.
            if all(re.search(pattern, text) for pattern in wanted):
                break
            self._page.wait_for_timeout(250)
        is_there = all(re.search(pattern, text) for pattern in wanted)
        self.missing += not is_there
        print("ok      " if is_there else "MISSING ", name, "" if is_there else f": {text[:600]!r}")
        if self._shots is not None:
            self._page.screenshot(path=self._shots / f"{re.sub('[^a-z]+', '-', name.lower())}.png")

    def command(self, title: str, *then: str) -> None:
        """Runs a command from the palette, and types what it asks for."""
        self._page.keyboard.press("Escape")
        self._page.keyboard.press("F1")
        self._page.wait_for_selector(".quick-input-widget input")
        self._page.keyboard.type(title, delay=10)
        self._page.wait_for_selector(f".quick-input-list [aria-label*='{title}']")
        self._page.keyboard.press("Enter")
        for text in then:
            self._page.wait_for_timeout(1_000)
            self._page.keyboard.type(text, delay=10)
            self._page.keyboard.press("Enter")

    def open(self, path: str) -> None:
        """Opens a file in the explorer, whose folder must be collapsed."""
        *folders, name = path.split("/")
        for folder in folders:
            self._page.locator(f".explorer-folders-view [aria-label^='{folder}']").first.click()
        self._page.locator(f".explorer-folders-view [aria-label^='{name}']").first.dblclick()
        self._page.wait_for_selector(f".tab.active[aria-label*='{name}']")

    def go_to(self, line: int, column: int) -> None:
        """Moves the editor's cursor."""
        self._page.locator(".editor-instance .view-lines").first.click()
        self._page.keyboard.press("Control+G")
        self._page.wait_for_selector(".quick-input-widget input")
        self._page.keyboard.type(f"{line}:{column}", delay=10)
        self._page.keyboard.press("Enter")
        self._page.wait_for_timeout(500)

    def run(self) -> None:
        """Checks everything that docs/vscode.md names."""
        self.look("status bar: branch, fresh, conflict", ".statusbar-item",
                  r"main · fresh", r"1 conflict")  # fmt: skip
        self.open("shop/cart.py")
        self.look("lines above definitions", ".codelens-decoration",
                  r"\d+ uses?, \d+ test", "changed here, not committed",
                  "also being changed in worktree discount")  # fmt: skip
        self.go_to(4, 6)
        self._page.keyboard.press("Control+K")
        self._page.keyboard.press("Control+I")
        self.look("hover: uses", ".monaco-hover", r"1 use.* of shop/cart.py#total", "show")
        self.command("codelens: Search", "tax")
        self.look("results: search", ROWS, r"tax.*shop/book.py:11")
        self.go_to(4, 6)
        for name, wanted in (
            ("Callers of This Definition", (r"Called by", r"show", r"Tests")),
            ("History of This Definition", (r"uncommitted", r"Sell books")),
            ("Impact of My Changes", (r"Changed", r"total", r"Tests to run", r"test_cart")),
            ("Show Conflicts", (r"discount", r"total")),
            ("Show Notes", (r"tax-rule", r"Everybody pays <b>tax</b>")),
        ):
            self.command(f"codelens: {name}")
            self.look(f"results: {name}", ROWS, *wanted)
        self.command("codelens: Update the Index")
        self.look("after indexing: fresh", ".statusbar-item", r"main · fresh")
        self.command("codelens: All Commands")
        self.look(
            "menu of the status bar",
            ".quick-input-list .monaco-list-row",
            "Callers of this definition",
            "Impact of my changes",
            "Connect coding agents",
        )
        self.command("MCP: List Servers")
        self.look("MCP server in VS Code's list", ".quick-input-list .monaco-list-row", "codelens")
        self.command("codelens: Find Problems")
        self.look("terminal: doctor", PANEL, r"codelens doctor")
        self.command("codelens: Connect Coding Agents")
        self.look("terminal: agents", PANEL, r"codelens install")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextmanager
def code_server(program: str, vsix: str, root: Path, folder: Path) -> Iterator[str]:
    """Starts a VS Code with the extension on a folder; yields its address."""
    own = ["--user-data-dir", str(folder / "user"), "--extensions-dir", str(folder / "extensions")]
    env = os.environ | {"HOME": str(folder)}
    # VS Code takes the PATH of a login shell.
    (folder / ".profile").write_text(f"PATH={Path(sys.executable).parent}:$PATH\n")
    subprocess.run([program, *own, "--install-extension", vsix], env=env, check=True)
    port = free_port()
    options = ["--auth", "none", "--bind-addr", f"127.0.0.1:{port}", "--disable-telemetry",
               "--disable-update-check", "--disable-workspace-trust"]  # fmt: skip
    with (folder / "code-server.log").open("w") as log:
        server = subprocess.Popen(
            [program, *own, *options, str(root)], env=env, stdout=log, stderr=log,
            start_new_session=True,
        )  # fmt: skip
        try:
            wait_for(port)
            yield f"http://127.0.0.1:{port}/?folder={root}"
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(20)


def wait_for(port: int) -> None:
    """Waits until something listens there."""
    for _ in range(600):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise SystemExit("code-server does not listen after two minutes")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--code-server", required=True)
    parser.add_argument("--vsix", required=True)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--shots", type=Path)
    given = parser.parse_args()
    if given.shots:
        given.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        os.environ["CODELENS_HOME"] = str(folder / "home")
        root = made_repository(folder)
        browser = playwright.chromium.launch(executable_path=given.chromium, args=["--no-sandbox"])
        with code_server(given.code_server, given.vsix, root, folder) as url:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            page.set_default_timeout(WAIT_S * 1000)
            page.goto(url)
            page.wait_for_selector(".statusbar-item", timeout=180_000)
            tour = EditorTour(page, given.shots)
            tour.run()
            browser.close()
    print(f"{tour.missing} missing")
    return 1 if tour.missing else 0


if __name__ == "__main__":
    sys.exit(main())
