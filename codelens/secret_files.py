"""Recognises files that hold secrets by their names, and masks secrets in answers.

Most answers show code of files that the caller did not name: a search for `AWS_SECRET` lists a line
of `.env`. Such answers mask the values in these files, in other configuration those of secret
settings (`codelens.secret_settings`), and in all files private keys and tokens with a prefix from
their issuer. A mask keeps the number of lines.
"""

from __future__ import annotations

import re

from codelens.secret_masking import MASK, PATTERN, is_random, may_be_in
from codelens.secret_settings import (
    is_configuration,
    masked_literals,
    masked_settings,
    may_have_literal,
    may_have_setting,
)

_ALWAYS = r"""
    \.env(?:[.~-][^/]*)?|[^/]*\.env|env\.(?:prod|stag|dev|local)\w*|\.envrc
    |\.netrc|_netrc|\.npmrc|\.yarnrc\.ya?ml|\.pypirc|\.pgpass|\.htpasswd|\.my(?:login)?\.cnf
    |\.s3cfg|\.boto|\.terraformrc|terraform\.rc|[^/]*\.tfrc(?:\.json)?|\.secrets|wp-config\.php
    |\.git-credentials|\.dockercfg|\.?vault[-_]?pass[^/.]*(?:\.txt)?|(?:[^/]*\.)?kubeconfig(?:\.ya?ml)?
    |local\.settings\.json|client_secret[^/]*\.json|[^/]*service[-_]?account[^/]*\.json
    |[^/]*-adminsdk-[^/]*\.json
    |id_(?:rsa|dsa|ecdsa|ed25519)
    |[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx?|ppk|ovpn|tfvars(?:\.json)?|tfstate[^/]*)
    |[^/]*(?:credential|secret|passw(?:or)?d)s?\.(?:json|ya?ml|toml|ini|cfg|conf|txt|xml
        |properties|env|csv)
"""
_NEVER_SENT = rf"(?:^|/)(?:{_ALWAYS}|id_(?:rsa|dsa|ecdsa|ed25519)[^/]*|[^/]*\.(?:asc|gpg|age))$"
_FOLDERS = r"(?:^|/)(?:\.ssh|\.gnupg|\.aws|\.docker|\.kube|secrets?|credentials)/"
_MASKED = (
    rf"(?:^|[/:])(?:{_ALWAYS}|credentials)$|(?:^|[/:])\.(?:aws|docker|kube)/"
    r"|(?:^|[/:])\.?secrets/(?!readme|licen|makefile|dockerfile)[^/.]+(?:\.(?:txt|ya?ml|env))?$"
)
"""Omits names that code and prose have, too: `secrets/client.go`, `book.asc`. A handle may have a
commit before the path."""
_MAY_MATCH = (
    ".env", "env.", "rc", "cnf", ".s3cfg", ".boto", "wp-config", "kubeconfig", "settings.json",
    "account", "-adminsdk-", "credential", "secret", "passw", "pgpass", "dockercfg", "vault", "id_",
    ".pem", ".key", ".p", ".jks", ".k", ".ovpn", ".tf", ".aws", ".docker",
)  # fmt: skip
"""Each matching path contains one of these; a plain search avoids compiling the pattern, which
takes milliseconds."""
_EXAMPLES = ("example", "sample", "template", "dist", "defaults", "schema")
"""Endings of sample files, which show which values a real one needs."""

_BLANK = re.compile(r"[+ -]?[\s{}\[\](),\"']*|[+ -]?\s*\[[^\]]*\]\s*|[+ -]?\s*-{3,}.*-{3,}\s*")
"""Lines without a value: brackets, the head of a section, the frame of a key."""
_NAMED = re.compile(
    r"([+ -]?\s*(?:[#;]\s*|//\s*)?(?:-\s+)?(?:export\s+|set\s+)?[\"']?[\w.@/: -]*?[\w\]][\"']?"
    r"\s*[=:]\s*)(?=[^\s{\[|>])(?![{\[|>,]+\s*$).+"
)
_COMMENT = re.compile(r"[+ -]?\s*(?:#|;|//|<!--)")
_BEGIN, _END = (
    re.compile(r"-BEGIN [A-Z0-9 ]*PRIVATE KEY"),
    re.compile(r"-END [A-Z0-9 ]*PRIVATE KEY"),
)
_KEY_LINE = re.compile(r"(?<![\w+/.-])[A-Za-z0-9+/]{60,}={0,2}")
"""A line of base 64, which is a key if it looks random; not the path of a URL, nor `sha512-...`."""


def may_hold_secrets(path: bytes) -> bool:
    """Whether a file's path suggests that it contains keys or passwords: it is never sent."""
    lowered = path.lower().decode("utf-8", "replace")
    return bool(
        re.search(_NEVER_SENT, lowered, re.VERBOSE) or re.search(_FOLDERS, lowered, re.VERBOSE)
    )


def has_secret_values(path: str) -> bool:
    """Whether a file's name says that its values are secret."""
    lowered = path.lower()
    if not any(part in lowered for part in _MAY_MATCH) or lowered.endswith(_EXAMPLES):
        return False
    return bool(re.search(_MASKED, lowered, re.VERBOSE))


def may_show_secret(path: str, text: str) -> bool:
    """Whether text of a file may contain a secret; a search that may be wrong."""
    if "PRIVATE KEY" in text or may_be_in(text) or bool(_KEY_LINE.search(text)):
        return True
    if has_secret_values(path):
        return True
    return may_have_setting(text) if is_configuration(path) else may_have_literal(text)


def masked_text(path: str, text: str) -> str:
    """Text of a file as answers may show it that nobody asked for by the file's name."""
    if has_secret_values(path):
        return masked_values(text)
    return masked_code(masked_settings(text) if is_configuration(path) else masked_literals(text))


def masked_code(text: str) -> str:
    """The code of a file with any name, with keys and tokens replaced."""
    if may_be_in(text):
        text = re.sub(PATTERN, MASK, text)
    if "PRIVATE KEY" not in text and not _KEY_LINE.search(text):
        return text
    lines = text.split("\n")
    is_within = False
    for at, line in enumerate(lines):
        begin, end = _BEGIN.search(line), _END.search(line)
        if begin and not end and at + 1 == len(lines):
            # The text is cut here, or it is one line for several.
            lines[at] = f"{line[: begin.end()]}{MASK}"
        elif begin and end and _is_body(line[begin.end() : end.start()]):
            lines[at] = f"{line[: begin.end()]}{MASK}{line[end.start() :]}"
        elif is_within and not end and _is_body(line):
            lines[at] = MASK
        elif _KEY_LINE.search(line):
            lines[at] = _KEY_LINE.sub(_if_random, line)
        is_within = bool(begin) if begin and not end else is_within and not end
    return "\n".join(lines)


def _is_body(text: str) -> bool:
    """Whether text in the frame of a key may be the key, and no code that writes or reads one."""
    return not set("(){}[]$") & set(text)


def _if_random(match: re.Match[str]) -> str:
    return MASK if is_random(match[0]) else match[0]


def masked_values(text: str) -> str:
    """The lines of a file with secret values, without these."""
    return "\n".join(_without_value(line) for line in text.split("\n"))


def _without_value(line: str) -> str:
    if _BLANK.fullmatch(line):
        return line
    named = _NAMED.fullmatch(line.rstrip("\r"))
    if named is not None:
        return named[1] + MASK
    if _COMMENT.match(line):
        return masked_code(line)
    return line if line.rstrip().endswith((":", "{", "[", "=", "|")) else MASK
