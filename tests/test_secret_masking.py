"""Secrets do not reach the disk, and prose stays readable."""

from __future__ import annotations

from pathlib import Path

import pytest

from codelens.focus.checkout import Checkout
from codelens.focus.focus_settings import FocusSettings
from codelens.focus.focus_turn import take_answer, take_prompt
from codelens.secret_masking import MASK, masked

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
# Put together here, so that scanners of this repository find no key.
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


def test_a_secret_at_the_edge_of_what_is_kept_is_masked_before_it_is_cut(tmp_path: Path) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    text = "word " * 395 + "tok " + secret
    take_prompt(str(tmp_path), Checkout("/a", "/a/.git", "main"), text, FocusSettings())
    for file in (one for one in tmp_path.rglob("*.jsonl")):
        assert b"ghp_" not in file.read_bytes() and b"16c7" not in file.read_bytes().lower()
