"""Tours `codelens ui` in a real browser: what breaks the page, and how fast it is.

    pip install playwright && npm pack axe-core && tar xzf axe-core-*.tgz
    python benchmarks/ui_tour.py --axe package/axe.min.js --shots /tmp/shots

Makes a small repository with two worktrees, saved notes and files with hostile names, starts
`codelens ui` on it, and visits all views in Chromium (the system's, by `--chromium`), light, dark
and 360 pixels wide. These counts must all be 0: violations of the content security policy,
requests to anything but the page's own server, script errors, elements injected by text of the
repository, violations of axe's rules (https://github.com/dequelabs/axe-core). With `--repository`
it measures first paint and search there instead, and takes screenshots; with `--files N` it uses a
repository of N generated files.

No test runs it, since it needs a browser; `tests/ui/` tests the rules of the protocol.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

HOSTILE = (
    "<img src=x onerror=alert(1)>.py",
    "</script><script>alert(2)</script>.py",
    "\u202egnp.evil.py",
    "javascript:alert(3).py",
    "a#b%20'\"&amp;.py",
)
FILES = {
    "shop/base.py": '"""What is sold."""\n\n\nclass Item:\n    """A thing to buy."""\n\n'
    "    def price(self) -> int:\n        return 1\n",
    "shop/book.py": "from shop.base import Item\n\n\nclass Book(Item):\n"
    '    """With a tax of its own."""\n\n'
    "    def price(self) -> int:\n        return tax(2)\n\n\ndef tax(amount: int) -> int:\n"
    "    # Everybody pays.\n    return amount + 1\n",
    "shop/cart.py": "from shop.book import Book, tax\n\n\ndef total(count: int) -> int:\n"
    '    """What it costs."""\n    return Book().price() * count + tax(count)\n\n\n'
    'def show(count: int) -> str:\n    return f"{total(count)} EUR"\n',
    "native/fast.h": "int fast(int n);\n",
    "native/fast.c": '#include "fast.h"\n\nint fast(int n) { return n + 1; }\n',
    "tests/test_cart.py": "from shop.cart import show\n\n\ndef test_show():\n    assert show(1)\n",
    "README.md": "# Shop\n\nSells books.\n",
    "pyproject.toml": '[project.scripts]\nshop = "shop.cart:show"\n',
}
COUNTED = ("csp", "foreign requests", "script errors", "injected elements", "axe")
SEARCHES = ("parse", "handle", "read file", "where is the cache invalidated", "config")


PICTURES = (
    ("search?query=check+the+bearer+token+of+a+request", ".hit", "search"),
    (f"code?target={quote('codelens/engine/current_view.py#at_own_ref')}", ".uses h3", "code"),
    ("map", ".box", "map"),
    ("diff?from=HEAD~2&to=HEAD", ".file", "diff"),
    (f"history?target={quote('codelens/cli/main.py#main')}", ".list", "history"),
    ("conflicts", "main h1 + p + *", "conflicts"),
)
"""A clone of codelens, and a worktree that changes a function which the clone also changes.
Those in docs/images were then reduced to 96 colours.
"""


README = """# The <script>alert(5)</script> shop

![a picture](https://evil.example/p.png) <img src=x onerror=alert(6)>
[one](javascript:alert(7)), [two](data:text/html,<script>alert(8)</script>),
**[three](shop/cart.py)**

| book | price |
|---|---|
| `tax` | 2 |
"""


def git(folder: Path, *args: str) -> None:
    names = [f"GIT_{who}_{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")]
    subprocess.run(
        ["git", *args], cwd=folder, check=True, capture_output=True,
        env=os.environ | dict.fromkeys(names, "tour@example.com"),
    )  # fmt: skip


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def made_repository(folder: Path) -> Path:
    """Makes two worktrees whose edits collide, a note on code changed since, and hostile names."""
    root = folder / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root, FILES)
    git(root, "add", ".")
    git(root, "commit", "-qm", "Sell books")
    codelens(root, "save", "tax-rule", "--note", "Everybody pays <b>tax</b>.", "shop/book.py#tax")
    hostile = {
        name: f"def hostile_{at}():\n    return {name!r}\n" for at, name in enumerate(HOSTILE)
    }
    write(root, hostile | {"README.md": README})
    cart = FILES["shop/cart.py"]
    write(root, {"shop/book.py": FILES["shop/book.py"].replace("amount + 1", "amount + 2")})
    git(root, "add", ".")
    git(root, "commit", "-qm", "Raise the tax <script>alert(4)</script>")
    git(root, "worktree", "add", "-q", "-b", "discount", str(folder / "discount"))
    write(folder / "discount", {"shop/cart.py": cart.replace("* count", "* count - 1")})
    git(folder / "discount", "commit", "-qam", "Give a discount")
    write(root, {"shop/cart.py": cart.replace("* count", "* min(count, 9)")})
    return root


def codelens(root: Path, *args: str) -> None:
    subprocess.run([sys.executable, "-m", "codelens", *args], cwd=root, check=True)


@contextmanager
def served(root: Path) -> Iterator[tuple[str, int]]:
    """Serves the page of a repository; yields its address and its process."""
    server = subprocess.Popen(
        [sys.executable, "-m", "codelens", "ui", "-C", str(root)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip(), server.pid
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(10)


class Tour:
    """Pages of one browser, and the problems counted in them."""

    def __init__(self, browser: Browser, url: str, shots: Path, axe: str) -> None:
        self._browser, self._url, self._shots, self._axe = browser, url, shots, axe
        self.counts: dict[str, int] = dict.fromkeys(COUNTED, 0)
        self.details: list[str] = []

    def page(self, width: int, scheme: str) -> Page:
        context = self._browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        page = context.new_page()
        page.on("request", self._request)
        page.on("pageerror", lambda error: self._count("script errors", str(error)))
        page.on("dialog", lambda dialog: self._count("injected elements", dialog.message))
        page.on("console", self._console)
        return page

    def _console(self, line: ConsoleMessage) -> None:
        if "Content Security Policy" in line.text:
            self._count("csp", line.text)
        elif line.type == "error":
            self._count("script errors", line.text)

    def _request(self, request: Request) -> None:
        if not request.url.startswith(self._url):
            self._count("foreign requests", request.url)

    def _count(self, what: str, detail: str) -> None:
        self.counts[what] += 1
        self.details.append(f"{what}: {detail[:400]}")

    def visit(self, page: Page, place: str, wait: str, name: str) -> None:
        """Opens a view, waits for its content, checks it, and takes a screenshot."""
        page.goto(f"{self._url}#/{place}")
        page.wait_for_selector(wait, timeout=60_000)
        page.wait_for_timeout(400)
        self.look(page, name)

    def look(self, page: Page, name: str) -> None:
        injected = page.evaluate(
            "document.querySelectorAll('main img, main script, main b b').length"
        )
        if injected:
            self._count("injected elements", f"{injected} in {name}")
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if overflow > 0:
            self.details.append(f"note: {name} is {overflow} px wider than the window")
        if self._axe:
            page.evaluate(self._axe)
            found = page.evaluate("axe.run(document).then(result => result.violations)")
            for violation in found:
                nodes = [node["html"][:160] for node in violation["nodes"][:3]]
                self._count("axe", f"{name}: {violation['id']} {nodes}")
        if self._shots:
            page.screenshot(path=self._shots / f"{name}.png")


VIEWS = (
    ("search?query=tax", ".hit", "search"),
    (f"code?target={quote('shop/cart.py#total')}", ".line.place", "code"),
    ("code?target=README.md", ".markdown h2", "readme"),
    ("map", ".box", "map"),
    ("files?target=shop", ".list", "files"),
    ("files", ".list", "hostile-files"),
    ("diff?from=HEAD~1", ".file", "diff"),
    (f"history?target={quote('shop/book.py#tax')}", ".list", "history"),
    ("history?target=shop/cart.py", "table", "history-of-file"),
    ("conflicts", ".card", "conflicts"),
    ("notes", ".card", "notes"),
    ("views", "table", "views"),
    ("search?query=hostile", ".hit", "hostile-search"),
)


def tour(browser: Browser, url: str, root: Path, shots: Path, axe: str) -> Tour:
    tour = Tour(browser, url, shots, axe)
    for width, scheme, suffix in (
        (1280, "light", ""),
        (1280, "dark", "-dark"),
        (360, "light", "-360"),
    ):
        page = tour.page(width, scheme)
        page.goto(url)
        page.wait_for_selector(".chips")
        tour.look(page, f"start{suffix}")
        for place, wait, name in VIEWS:
            tour.visit(page, place, wait, f"{name}{suffix}")
        for number in range(len(HOSTILE)):
            target = page.evaluate(
                "query => fetch('api/search?query=' + query).then(response => response.json())"
                ".then(answer => answer.results[0].handle)",
                f"hostile_{number}",
            )
            tour.visit(
                page, f"code?target={quote(target)}", ".line", f"hostile-code-{number}{suffix}"
            )
        page.context.close()
    keys(tour, tour.page(1280, "light"), url)
    switches(tour, tour.page(1280, "light"), url)
    live(tour, tour.page(1280, "light"), root)
    for context in browser.contexts:
        context.close()
    return tour


def keys(tour: Tour, page: Page, url: str) -> None:
    """By keyboard alone: searches, opens, goes to the uses, shows the map."""
    page.goto(url)
    page.wait_for_selector(".chips")
    page.keyboard.press("/")
    page.keyboard.type("total", delay=30)
    page.wait_for_selector(".hit")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".uses h3")
    page.click("text=Copy handle")
    page.wait_for_selector("text=Copied")
    page.keyboard.press("u")
    assert page.evaluate("document.activeElement.closest('.uses') !== null")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open]")
    tour.look(page, "keys")
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("m")
    page.wait_for_selector(".box")
    page.locator("summary.item", has_text="book.py").first.hover()
    page.wait_for_selector(".arrows path")
    page.locator("summary.item", has_text="book.py").first.click()
    page.wait_for_selector(".box[open] li")
    tour.look(page, "map-open")


def switches(tour: Tour, page: Page, url: str) -> None:
    """Switches to another worktree and to a ref, and narrows a search."""
    page.goto(f"{url}#/code?target=shop/cart.py")
    page.wait_for_selector("text=min(count, 9)")
    page.select_option("#worktree", index=1)
    page.wait_for_selector("text=count - 1")
    page.select_option("#worktree", index=0)
    page.wait_for_selector("text=min(count, 9)")
    page.fill("#ref", "main")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=min(count, 9)", state="detached")
    tour.look(page, "at-ref")
    page.goto(f"{url}#/search?query=tax")
    page.wait_for_selector(".hit")
    page.fill("[name=globs]", "tests/**")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=shop/book.py", state="detached")
    assert page.input_value("#ref") == ""
    tour.look(page, "narrowed")
    page.go_back()
    page.wait_for_selector("text=shop/book.py")
    assert page.input_value("[name=globs]") == ""


def live(tour: Tour, page: Page, root: Path) -> None:
    """An edit on disk appears without a key press."""
    tour.visit(page, "code?target=shop/base.py", ".line", "before-edit")
    file = root / "shop/base.py"
    file.write_text(file.read_text(encoding="utf-8") + "\n\nEDITED = 1\n", encoding="utf-8")
    page.wait_for_selector("text=EDITED", timeout=15_000)
    tour.look(page, "after-edit")


def generated(folder: Path, count: int) -> Path:
    """Makes a repository of many small files that use one another."""
    root = folder / "generated"
    for number in range(count):
        near = (number * 7919 + 13) % count
        write(root, {place_of(number): (
            f"from {place_of(near)[:-3].replace('/', '.')} import load_{near}\n\n\n"
            f"class Handler{number}:\n"
            f'    """Parses the configuration of part {number} and keeps it in a cache."""\n\n'
            f"    def read_file(self, name):\n        return load_{near}(name)\n\n"
            f"    def invalidate(self):\n        self.cache_{number} = None\n\n\n"
            f"def load_{number}(name):\n    return parse_{number}(name)\n\n\n"
            f"def parse_{number}(text):\n    return text.strip()\n"
        )})  # fmt: skip
    git(root, "init", "-q", "-b", "main")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Generated")
    return root


def place_of(number: int) -> str:
    return f"area_{number // 2500}/part_{number // 50}/module_{number}.py"


def cpu_ms(pid: int) -> float:
    """The CPU time of a process so far, on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def search_cpu(url: str, pid: int) -> list[float]:
    """What each search costs the server once it is warm: medians of 5, in milliseconds."""
    costs = []
    for query in SEARCHES:
        each = []
        for _ in range(6):
            before = cpu_ms(pid)
            urllib.request.urlopen(f"{url}api/search?query={quote(query)}").read()
            each.append(cpu_ms(pid) - before)
        costs.append(round(statistics.median(each[1:])))
    return costs


def timed(browser: Browser, url: str, pid: int) -> None:
    """First paint, and the time from a key press to the list of results, in milliseconds."""
    paints = []
    for _ in range(5):
        page = browser.new_page()
        page.goto(url)
        page.wait_for_selector(".chips", timeout=600_000)
        paints.append(
            page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        )
        page.close()
    page = browser.new_page()
    page.goto(url)
    page.wait_for_selector(".chips", timeout=600_000)
    searches: list[float] = []
    for _ in range(3):
        for query in SEARCHES:
            page.fill("#query", "")
            page.wait_for_selector(".results", state="detached")
            start = time.perf_counter()
            page.fill("#query", query)
            page.wait_for_selector(".results h1")
            searches.append((time.perf_counter() - start) * 1000)
    page.close()
    print(json.dumps({
        "first_paint_ms": round(statistics.median(paints)),
        "search_ms": round(statistics.median(searches)),
        "search_ms_worst": round(max(searches)),
        "search_cpu_ms": dict(zip(SEARCHES, search_cpu(url, pid), strict=True)),
    }))  # fmt: skip


def pictured(browser: Browser, url: str, shots: Path) -> None:
    """Takes screenshots of a repository's views for people to look at."""
    tour = Tour(browser, url, shots, "")
    for scheme, suffix in (("light", ""), ("dark", "-dark")):
        page = tour.page(1200, scheme)
        for place, wait, name in PICTURES:
            tour.visit(page, place, wait, f"{name}{suffix}")
        page.context.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--axe", help="axe.min.js of axe-core; without it axe is left out")
    parser.add_argument("--shots", type=Path, help="folder for screenshots")
    parser.add_argument("--repository", type=Path, help="time the page there, and look no further")
    parser.add_argument("--files", type=int, help="the same in a repository of so many files")
    args = parser.parse_args()
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        if not args.repository:
            os.environ["CODELENS_HOME"] = str(Path(folder, "home"))
        place = Path(folder)
        if args.files:
            args.repository = generated(place, args.files)
            codelens(args.repository, "index")
        root = args.repository or made_repository(place)
        browser = playwright.chromium.launch(executable_path=args.chromium, args=["--no-sandbox"])
        with served(root) as (url, pid):
            if args.repository:
                timed(browser, url, pid)
                if args.shots:
                    pictured(browser, url, args.shots)
                return 0
            axe = Path(args.axe).read_text(encoding="utf-8") if args.axe else ""
            result = tour(browser, url, root, args.shots, axe)
        browser.close()
    print("\n".join(dict.fromkeys(result.details)))
    print(json.dumps(result.counts))
    return 1 if any(result.counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
