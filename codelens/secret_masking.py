r"""Secrets in prompts and answers, masked before anything is written.

The rules are a list of our own: scanners such as detect-secrets take longer to import than a
prompt hook may take in all. Masked are
- private keys in PEM form, whole or cut off;
- tokens whose issuer gives them a prefix (AWS, GitHub, GitLab, Slack, Stripe, OpenAI, Anthropic,
  Google, npm, PyPI, Hugging Face, SendGrid, DigitalOcean, age), and JSON web tokens;
- the user information of a URL;
- what follows `Bearer`, `Basic`, or a name with `password`, `secret`, `token`, `api key` in it
  and `=` or `:`;
- long runs of mixed letters and digits with the variety of a random key.
"""

from __future__ import annotations

import re
from itertools import pairwise

MASK = "***"
_LONGEST_READ = 16_000
_PREFIXED = (
    r"(?:A3T[A-Z0-9]|AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{12,}"
    r"|gh[pousr]_\w{16,}|github_pat_\w{16,}|gl(?:pat|dt|rt|ptt|cbt|soat)-[\w-]{16,}"
    r"|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|(?:sk|rk|pk)_(?:live|test)_\w{8,}|whsec_\w{8,}"
    r"|sk-[\w-]{16,}|AIza[\w-]{30,}|ya29\.[\w-]{16,}|npm_\w{20,}|pypi-[\w-]{16,}|hf_\w{16,}"
    r"|SG\.[\w-]{16,}\.[\w-]{16,}|do[opr]_v1_\w{16,}|AGE-SECRET-KEY-\w{16,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
)
_MARKS = (
    "AKIA ASIA AGPA AIDA AROA ANPA A3T gh github_pat_ gl xox xapp- sk_ rk_ pk_ whsec_ sk- AIza "
    "ya29. npm_ pypi- hf_ SG. do AGE-SECRET-KEY- eyJ"
).split()
"""What each of the tokens above begins with."""
_NAMES = (
    "passw", "passphrase", "pwd", "secret", "token", "api_key", "apikey", "api-key", "api key",
    "access_key", "accesskey", "access-key", "access key", "private_key", "credential",
    "authorization", "bearer", "basic",
)  # fmt: skip
_GIVEN = (
    r"(?i)\b([\w-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_ -]?key|access[_ -]?key"
    r"|private_key|credentials?|authorization)[\w-]*[\"']?)(\s*(?::=|=|:)\s*|\s+is\s+)"
    r"(\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`|(?!bearer\b|basic\b)[^\s\"'`,;]{4,})"
)
_LONG_RUN = re.compile(r"[A-Za-z0-9+/_=.~-]{16,}")


_PRIVATE_KEY = r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY"


def holds_key(text: str) -> bool:
    """Whether a private key in PEM form is in a text of any length, or a token with a prefix."""
    if "PRIVATE KEY" in text and re.search(_PRIVATE_KEY, text):
        return True
    return any(mark in text for mark in _MARKS) and bool(re.search(rf"\b(?:{_PREFIXED})", text))


def masked(text: str) -> str:
    """A text with `***` for each secret; what is longer than 16,000 characters is cut off."""
    text = text[:_LONGEST_READ]
    # Compiling all rules costs more than looking whether one can apply.
    if "PRIVATE KEY" in text:
        text = re.sub(
            rf"{_PRIVATE_KEY}.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\Z)",
            MASK, text, flags=re.DOTALL,
        )  # fmt: skip
    if "://" in text:
        text = re.sub(r"(://)[^/\s@]+(?=@)", rf"\1{MASK}", text)
    lowered = text.lower()
    if any(name in lowered for name in _NAMES):
        text = re.sub(r"(?i)\b((?:bearer|basic)\s+)[\w+/=.~-]{8,}", _if_no_word, text)
        text = re.sub(_GIVEN, _without_value, text)
    return _LONG_RUN.sub(_without_keys, text)


def _if_no_word(match: re.Match[str]) -> str:
    """`Basic authentication` is prose; what follows in a header has digits or is very long."""
    value = match.group()[len(match.group(1)) :]
    return match.group(1) + MASK if _is_value(value) else match.group()


def _without_value(match: re.Match[str]) -> str:
    """`password: x` as a whole; `token: x` and `... is x` where x cannot be a word of prose."""
    name, sign, value = match.groups()
    is_password = name.lower().lstrip("_-").startswith("pass") or "pwd" in name.lower()
    sure = "=" in sign or (is_password and ":" in sign)
    if not sure and not _is_value(value) and not value.startswith(('"', "'", "`")):
        return match.group()
    return f"{name}{sign}{MASK}"


def _is_value(text: str) -> bool:
    return any(character.isdigit() for character in text) or not text.isalpha() or len(text) > 20


def _without_keys(match: re.Match[str]) -> str:
    run = match.group()
    if any(mark in run for mark in _MARKS):
        run = re.sub(_PREFIXED, MASK, run)
    return MASK if _is_random(run) else run


def _is_random(run: str) -> bool:
    """Whether a run looks drawn by chance: 28 and more, of all three kinds, and they alternate.

    Names in code mix the kinds too, but change between them at word boundaries only.
    """
    core = run.strip("=.-_")
    if len(core) < 28 or core.count("/") > 3 or core.count("-") > 4 or core.count(".") > 2:
        return False
    kinds = [
        "d" if character.isdigit() else "u" if character.isupper() else "l" for character in core
    ]
    if len(set(kinds)) < 3:
        return False
    changes = sum(1 for here, after in pairwise(kinds) if here != after)
    return changes >= len(core) * 0.35
