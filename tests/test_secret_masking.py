"""Secrets do not reach the disk, and prose stays readable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import take_answer, take_prompt
from codelens.secret_masking import MASK, masked

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
# Assembled here, so that scanners of this repository find no key.
HEX = "d41d8cd98f00b204" + "e9800998ecf8427e"
SECRETS = {
    "aws id": ("AKIA" + "IOSFODNN7EXAMPLE", "deploy with {}"),
    "aws secret": ("wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY", "the secret {} is old"),
    "github": ("ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "push with {} please"),
    "github fine": ("github_pat_" + "11ABCDEFG0abcdefghijkl_mnop", "use {}"),
    "gitlab": ("glpat-" + "abcdef1234567890ABCD", "clone ({})"),
    "slack": ("xoxb-" + "123456789012-abcdefGHIJ", "bot {}"),
    "stripe": ("sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc", "charge with {}"),
    "anthropic": ("sk-ant-" + "api03-abcdefghijklmnop", "ask with {}"),
    "google": ("AIza" + "SyA-1234567890abcdefghijklmnopqrstu", "maps {}"),
    "npm": ("npm_" + "abcdefghijklmnopqrstuvwxyz0123456789", "publish {}"),
    "jwt": ("eyJhbGciOi" + "JIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_123", "why is {} refused"),
    "bearer": ("abcdef123456", "curl -H 'Authorization: Bearer {}' fails"),
    "url": ("me:hunter2", "fetch https://{}@example.com/repo.git"),
    "url token": ("x-token-9", "fetch https://{}@example.com/repo.git"),
    "password": ("hunter2", "my password is {} there"),
    "password colon": ("swordfish", "password: {}"),
    "assigned": ("abcd", "set DB_PASSWORD={} in the env"),
    "key": ("0a1b2c3d4e", 'api_key = "{}"'),
    "json": ("s3cr3t-value", '{{"client_secret": "{}"}}'),
    "aws session": ("FwoGZXIvYXdzEBYaDHqa0AP1rTAsD" + "UMmySK2AXpQ", "export AWS_SESSION_TOKEN={}"),
    "slack webhook": (
        "T00000000/B00000000/XXXX" + "XXXXXXXX",
        "to https://hooks.slack.com/services/{}",
    ),
    "discord webhook": ("123456789012345678/abc" + "DEF_gh", "https://discord.com/api/webhooks/{}"),
    "telegram": ("123456789:AAF-abcdefGHIJK12345" + "67890lmnopqrstu", "the bot {}"),
    "twilio": ("SK" + HEX, "call with {}"),
    "mailgun": ("key-" + HEX, "mail with {}"),
    "hexadecimal": (HEX, "datadog {}"),
    "hexadecimal, long": (HEX * 2, "sign with {}"),
    "after a name": ("9f8e7d6c5b4a39281706", "my api key {} was leaked"),
    "azure": (
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/K" + "KBHg==",
        "AccountName=x;AccountKey={};EndpointSuffix=y",
    ),
    "azure signature": ("abc%2Bdef123", "https://x.blob.core.windows.net/c?sv=2020&sig={}&se=1"),
    "connection": ("Tr0ub4dor&3", "Server=db;User Id=sa;Password={};"),
    "jdbc": ("s3cret!", "jdbc:mysql://h/db?user=root&password={}"),
    "url with @": ("p@ss:w0rd", "postgres://app:{}@db.example.com:5432/prod"),
    "url with /": ("pa/ss", "postgres://app:{}@db.example.com:5432/prod"),
    "url without a name": ("hunter2", "redis://:{}@localhost:6379/0"),
    "curl": ("hunter2", "curl -u admin:{} https://x"),
    "option": ("swordfish", "login --password {} --user x"),
    "option =": ("swordfish", "login --password={} --user x"),
    "option token": ("abcdefgh", "gh --token {} pr"),
    "mysql": ("swordfish", "mysql -uroot -p{} db"),
    "docker": ("swordfish", "docker login -u bob -p {} registry"),
    "sshpass": ("swordfish", "sshpass -p {} ssh host"),
    "basic": ("dXNlcjpwYXNz", "Authorization: Basic {}"),
    "token scheme": ("0123456789abcdef0123", "Authorization: Token {}"),
    "x-api-key": ("abc123def", "X-Api-Key: {}"),
    "cookie": ("38afes7a8abc", "Cookie: sessionid={}; theme=dark"),
    "json in json": ("hunter two", '{{\\"password\\": \\"{}\\"}}'),
    "yaml, next line": ("hunter2", "password:\n  {}"),
    "password is a word": ("correcthorse", "the password is {}, log in"),
    "password and a blank": ("hunter2", "log in with password {}"),
    "pass": ("hunter2", "user: bob pass: {}"),
    "three letters": ("abc", "DB_PASSWORD={} "),
    "with a comma": ("a,b", "password={} rest"),
    "ruby": ("hunter2", ":password => '{}'"),
    "pgp": (
        "lQOYBF",
        "with -----BEGIN PGP PRIVATE KEY BLOCK-----\n{}\n-----END PGP PRIVATE KEY BLOCK-----",
    ),
    "vault": ("hvs." + "CAESIJabcdefghij1234", "read {}"),
    "docker pat": ("dckr_pat_" + "abcdefghij1234567890", "push {}"),
    "base 64": ("q1W2e3R4t5Y6u7I8o9P0" + "a1S2d3F4g5H6", "use {} as key"),
    "netrc": ("hunter2x", "machine x.com login bob password {}"),
    "default": ("s3cr3tvalue", "${{TOKEN:-{}}}"),
    "netrc of words": ("swordfish", "machine x.com login bob password {}"),
    "netrc, lines": ("swordfish", "machine x.com\n  login bob\n  password {}\n"),
    "netrc, login last": ("swordfish", "machine x.com password {} login bob"),
    "netrc, default": ("me@x.com", "default login anonymous password {}"),
    "yaml entry": ("swordfishlake", "production:\n  secret_key_base: {}\n  other: 1"),
    "docker auth": ("Ym9iOnN3b3JkZmlzaA==", '{{"auths":{{"x":{{"auth": "{}"}}}}}}'),
    "docker, yaml": ("Ym9iOnN3b3JkZmlzaA==", "auth: {}"),
    "npm _auth": ("Ym9iOnN3b3JkZmlzaA==", "_auth={}"),
    "japanese": ("swordfish", "パスワード: {}"),
    "japanese, full width": ("swordfish", "新しいパスワード：{}"),
    "spanish": ("swordfish", "la contraseña: {}"),
    "spanish, decomposed": ("swordfish", "contrasen\u0303a: {}"),
    "french": ("swordfish", "mot de passe : {}"),
    "russian": ("swordfish", "пароль: {}"),
    "chinese": ("swordfish", "密码：{}"),
    "german": ("swordfish", "Kennwort = {}"),
    "hindi": ("swordfish", "पासवर्ड: {}"),
    "full width": ("swordfish", "password＝{}"),
    "passphrase": ("open sesame doors", "the passphrase: {}"),
    "passphrase, lines": ("correct horse battery staple", "passphrase = {}.\nThen log in"),
    "ssh2": (
        "P2/56wAAAgIAAAAm",
        "with ---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{}\n"
        "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    ),
    "putty": (
        "AAABAHQ5",
        "PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 2\n{}\nPrivate-MAC: 0a1b",
    ),
    "markdown": ("swordfish", "**Password**: {}"),
    "markdown, colon within": ("swordfish", "**Password:** {}"),
    "markdown, code": ("swordfish", "`password`: `{}`"),
    "pem": (PEM, "use this:\n{}\nfor login"),
    "pem cut off": (PEM[:50], "use this {}"),
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_masked_and_the_rest_stays(name: str) -> None:
    secret, text = SECRETS[name]
    said = masked(text.format(secret))
    assert secret not in said and MASK in said
    first = text.format(MASK).split()[0]
    assert said.startswith(first) or MASK in first


@pytest.mark.parametrize(
    "text",
    [
        "rotate the refresh token: add tests",
        "the token is expired, fix the check",
        "basic authentication fails with a 401",
        "why does src/codelens/secret_masking.py#masked raise",
        "look at 04086bf1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7",
        "rename getUserAccountSettingsFromDatabase2 everywhere",
        "open https://example.com/a/b?c=d and see",
        "password reset mail is not sent",
        "sk-learn and task-scheduler differ",
        "日本語の説明",
        "the password is wrong",
        "the password is hashed with bcrypt",
        "npm install @scope/x from https://registry.npmjs.org:443/@scope/pkg",
        "task-scheduler-configuration-loader is slow",
        "look at src/components/AccountSettings/useSettings2.tsx",
        "cookie: fix the banner",
        "secrets in tests/test_secret_masking.py",
        "token refresh v2 fails",
        "git log -p src/a.py && mkdir -p build",
        "user@example.com wrote of key=value parsing",
        "fix session_id handling in middleware",
        "password is stored in plain text",
        "password reset to the user",
        "send a password reset mail to the machine",
        "default login page password reset is broken",
        "the login form password field overflows",
        "machine learning of password strength",
        '"auth": "required" in the config',
        "auth: firebase is slow",
        "auth module: split it",
        "client_secret: rename it everywhere",
        "client_secret: SecretStr",
        "refresh_token: add tests",
        "パスワード：リセットする機能を追加",
        "пароль: сброс не работает",
        "la contraseña olvidada no llega",
        "passphrase prompt is shown twice",
        "parse the Private-Lines: header",
        "read the BEGIN SSH2 PUBLIC KEY header",
    ],
)
def test_prose_and_code_are_left_alone(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize("name", SECRETS)
def test_no_secret_is_written(tmp_path: Path, name: str) -> None:
    secret, text = SECRETS[name]
    place, chosen = Checkout("/work/shop", "/work/shop/.git", "main"), FocusSettings()
    for _ in range(2):
        take_prompt(str(tmp_path), place, text.format(secret), chosen)
        take_answer(str(tmp_path), place, text.format(secret), chosen)
    secret_part = secret.splitlines()[0][-12:] if secret != PEM else "MIIEow"
    for file in (one for one in tmp_path.rglob("*") if one.is_file()):
        assert secret_part.lower().encode() not in file.read_bytes().lower()


def test_a_secret_at_the_cut_is_masked_before_the_cut(tmp_path: Path) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    text = "word " * 395 + "tok " + secret
    take_prompt(str(tmp_path), Checkout("/a", "/a/.git", "main"), text, FocusSettings())
    for file in (one for one in tmp_path.rglob("*.jsonl")):
        assert b"ghp_" not in file.read_bytes() and b"16c7" not in file.read_bytes().lower()


def test_a_text_of_names_costs_linear_time() -> None:
    """For each pattern: repeated starts of a secret are not each read to the end."""
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (10, 10))\n"
        "from codelens.secret_masking import _PHRASE, masked\n"
        "import re\n"
        "re.findall(_PHRASE, 'passphrase:' * 20_000)\n"
        "[masked(text * 2_000) for text in ('passphrase:', 'machine a login b ', 'auth:')]\n"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
