"""Secrets are masked in each answer that nobody asked for by name, and shown by `expand`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from gitrepo import GitRepo

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.secret_files import has_secret_values, masked_code, masked_values

# Assembled here, so that scanners of this repository find no key.
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
KEY_ID = "AKIA" + "IOSFODNN7EXAMPLE"
KEY_LINES = [
    f"{at}MIIEpAIBAAKCAQEA7bq98sXkQ2fW0dLr5uYtHgVcNzPjKeMo1iSaRb4xTw3Dy" for at in range(4)
]
PEM = "\n".join(
    ["-----BEGIN RSA PRIVATE " + "KEY-----", *KEY_LINES, "-----END RSA PRIVATE " + "KEY-----"]
)
FILES = {
    ".env": "# Cloud.\nAWS_SECRET=envvalue77\n#OLD_SECRET=oldvalue88\nexport PORT=portvalue99\n",
    ".npmrc": "//registry.npmjs.org/:_authToken=npmvalue66\n",
    ".netrc": "machine example.org login bob password netrcvalue55\n",
    ".aws/credentials": "[default]\naws_secret_access_key = awsvalue44\n",
    "deploy/secrets.yaml": "database:\n  secret: yamlvalue33\n",
    "deploy/server.pem": f"{PEM}\n",
    ".env.example": "AWS_SECRET=fill-me-in\n",
    "docker-compose.yml": "services:\n  db:\n    environment:\n      DB_PASSWORD: yml22\n",
    "config/application-prod.yml": "url: jdbc:h2:x?password=ymlvalue21\nsecret: ymlvalue20\n",
    "app.properties": "db.password = propvalue19\n",
    "app.py": f'''"""Reads AWS_SECRET."""
TOKEN = "{TOKEN}"
SECRET_KEY = """{PEM}"""


def connect(secret="{TOKEN}"):
    """Connect as {KEY_ID}."""
    return secret


def main():
    return connect("{TOKEN}")
''',
}  # fmt: skip
SECRETS = [
    "envvalue77", "oldvalue88", "portvalue99", "npmvalue66", "netrcvalue55", "awsvalue44",
    "yamlvalue33", "yml22", "ymlvalue21", "ymlvalue20", "propvalue19", TOKEN, KEY_ID,
    *KEY_LINES,
]  # fmt: skip

QUESTIONS: dict[str, Callable[[Engine, str], object]] = {
    "search": lambda engine, path: engine.search("AWS_SECRET", path=path),
    "a sentence": lambda engine, path: engine.search("the secret key of connect", path=path),
    "text": lambda engine, path: engine.search("Token", mode="text", path=path),
    "regex": lambda engine, path: engine.search(
        "(?i).*(secret|token|machine).*", mode="regex", path=path
    ),
    "several": lambda engine, path: engine.search_repositories("secret", [path]),
    "explore": lambda engine, path: engine.explore("AWS_SECRET and connect and the key", path=path),
    "map": lambda engine, path: engine.map(path=path),
    "outline": lambda engine, path: engine.outline("app.py", path=path),
    "outline of all": lambda engine, path: engine.outline(".", path=path),
    "related": lambda engine, path: engine.related("app.py#connect", path=path),
    "references": lambda engine, path: engine.references("app.py#connect", path=path),
    "impact": lambda engine, path: engine.impact(["app.py#connect"], path=path),
    "impact of a diff": lambda engine, path: engine.impact(diff="HEAD~1", path=path),
    "diff": lambda engine, path: engine.diff("HEAD~1", path=path),
    "history": lambda engine, path: engine.history("app.py#connect", patch=True, path=path),
}  # fmt: skip


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> GitRepo:
    repo = GitRepo.init(tmp_path_factory.mktemp("masked") / "shop")
    repo.commit("first", {"app.py": f'def connect(other="{TOKEN}"):\n    return other\n'})
    repo.commit("second", FILES)
    return repo


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    return Settings(tmp_path_factory.mktemp("home"))


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_shows_no_secret(repo: GitRepo, settings: Settings, question: str) -> None:
    with Engine(settings) as engine:
        text = json.dumps(asdict(QUESTIONS[question](engine, str(repo.root))))  # type: ignore[call-overload]
    assert [secret for secret in SECRETS if secret in text] == []
    assert "***" in text


def test_expand_shows_what_was_asked_for_by_name(repo: GitRepo, settings: Settings) -> None:
    with Engine(settings) as engine:
        items = engine.expand([".env", "app.py#SECRET_KEY"], path=repo.root).items
    assert items[0].text == FILES[".env"] and PEM in items[1].text


def test_a_setting_turns_masking_off(repo: GitRepo, settings: Settings) -> None:
    with Engine(replace(settings, mask_secrets=False)) as engine:
        shown = [hit.signature for hit in engine.search("AWS_SECRET", path=repo.root).results]
    assert any("envvalue77" in text for text in shown), shown


@pytest.mark.parametrize("hides", [True, False])
def test_a_pack_has_no_secret(
    repo: GitRepo, settings: Settings, tmp_path: Path, hides: bool
) -> None:
    with Engine(replace(settings, mask_secrets=hides)) as engine:
        answer = engine.pack(tmp_path / "all.pack", path=repo.root)
    assert answer.secret == (7 if hides else 0)
    assert answer.contents == (4 if hides else 11)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".env", True), ("a/.env.local", True), ("prod.env", True), (".ENV", True),
        (".npmrc", True), ("home/.netrc", True), ("x/credentials", True), (".aws/config", True),
        ("key.pem", True), ("ssh/id_rsa", True), ("main.tfvars", True), ("app-secrets.yaml", True),
        (".env.example", False), ("main.tfvars.sample", False), ("secrets/client.go", False),
        ("credentials.py", False), ("environment.ts", False), ("book.asc", False),
        ("id_rsa.pub", False), ("keys.go", False), ("src/pem.py", False),
    ],
)  # fmt: skip
def test_names_say_which_files_have_secret_values(path: str, expected: bool) -> None:
    assert has_secret_values(path) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=b", "A=***"),
        ("export A = 'b c'\n", "export A = ***\n"),
        ("a:\n  b: c\n  - d: e\n", "a:\n  b: ***\n  - d: ***\n"),
        ('{\n  "a": "b",\n  "c": {\n', '{\n  "a": ***\n  "c": {\n'),
        ("[section]\na = b\n", "[section]\na = ***\n"),
        ("# A comment.\n", "# A comment.\n"),
        ("#A=b\r\n", "#A=***\n"),
        ("+A=b\n-A=c", "+A=***\n-A=***"),
        ("https://me:word@host", "https:***"),
        ("alone", "***"),
    ],
)
def test_values_are_masked_line_by_line(text: str, expected: str) -> None:
    assert masked_values(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password = read(path)", "password = read(path)"),
        ("token: str = field()", "token: str = field()"),
        (f"x = '{TOKEN}'", "x = '***'"),
        (KEY_LINES[0], "***"),
        ("x/Components3" * 6, "x/Components3" * 6),
        ("sha256 = '" + "ab12" * 16 + "'", "sha256 = '" + "ab12" * 16 + "'"),
    ],
)
def test_of_ordinary_code_only_keys_are_masked(text: str, expected: str) -> None:
    assert masked_code(text) == expected
