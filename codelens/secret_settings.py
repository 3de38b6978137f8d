"""Masks the values of settings whose names say that they are secret, and passwords in URLs.

Configuration has secrets in files with ordinary names: `application-prod.yml`, the environment of
`docker-compose.yml`, connection strings. There, a value is masked if its name ends with `password`,
`secret`, `token`, `api key` or the like, unless it refers to another place (`${DB_PASSWORD}`), or
is a word that a translation or a schema may have. In code, where such names are everywhere, only a
literal that looks random is masked.
"""

from __future__ import annotations

import re

from codelens.secret_masking import MASK, is_random

_CONFIGURATION = (
    ".yml", ".yaml", ".json", ".jsonc", ".json5", ".toml", ".ini", ".cfg", ".conf", ".cnf",
    ".config", ".properties", ".xml", ".plist",
)  # fmt: skip
_TRANSLATIONS = r"(?:^|/)(?:i18n|l10n|locales?|lang(?:uage)?s?|translations?)/"
_WORDS = ("passw", "passphrase", "passcode", "pwd", "secret", "token", "key", "credential")
"""Lower-case substrings, of which every name below has one."""
_OF_PASSWORDS = r"passw(?:or)?d|passphrase|passcode|pwd"
_NAME = (
    rf"(?:{_OF_PASSWORDS}|secret|token|credential"
    r"|(?:api|access|secret|private|account|signing|encryption|auth|master|client)[_.-]?key)"
    r"(?:[_.-]?(?:id|base|data|hash))?"
)
_AT_START = (
    r"(?im)(^[+-]?[\t ]*(?:-[\t ]+)?(?:export[\t ]+|:)?"
    rf"([\w.@/-]{{0,80}}?{_NAME})[\t ]*[:=](?!=)[\t ]*)"
    r"(?![\"'\[{|>&*\\\s])((?:(?![\t ]#)[^\n\r])+)"
)
"""A setting with a line of its own and a value without quotes."""
_WITHIN = (
    rf"(?i)(({_NAME})\\?[\"']?[\t ]*(?:[:=]|=>)(?!=)[\t ]*)"
    r"(\\?\"(?:[^\"\\\n]|\\[^\"\n])*\\?\"|'[^'\n]*'|[^\s\"'`,;&}\])<>{\[|*\\][^\s\"'`,;&}\])<>]*)"
)
"""A setting anywhere in a line: in JSON, in braces, in a connection string."""
_ELEMENT = (
    rf"(?i)(<([\w:.-]{{0,80}}?{_NAME})>|(?:key|name)=\"([^\"\n]{{0,80}}?{_NAME})\"\s+value=\")"
    r"([^<>\"\n]+)"
)
_URL = r"(://[^\s/:@\"'`<>]*:)(?!\d+[/?#])([^\s\"'`<>/@]+|[^\s\"'`<>@]+)(?=@)"
_REFERS = (
    r"\$(?:[{(]|[A-Za-z_]\w*$)|\{|<|%[({]|!\w+(?:\s|$)|\.{0,2}/|~/|[a-z]:\\|[a-z][\w+.-]*://"
    r"|(?i:vault|arn|ssm|env|file|enc|secret):"
)
"""Beginnings of values that name the place of the secret."""
_VERSION = r"[\^~<>=v]*\d+(?:\.[\dx*]+)+$"
_NO_VALUES = frozenset(
    "any array boolean bool changeme default disabled enabled false hidden integer none null "
    "number object optional password passwd passphrase pwd redacted required secret str string "
    "text token true undefined unknown varchar".split()
)
_LITERAL = re.compile(r"[\"'][\w+/=.-]{28,}[\"']")
_GIVEN_LITERAL = (
    rf"(?i)({_NAME}[\"'\])]*\s*(?::[^=\n\"']{{0,40}})?(?:=|=>|:|,)\s*[\"'])"
    r"([\w+/=.-]{28,})(?=[\"'])"
)
_HEXADECIMAL = r"(?i)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{32,}"


def is_configuration(path: str) -> bool:
    """Whether the file with this name has settings, and no translations."""
    lowered = path.lower()
    return lowered.endswith(_CONFIGURATION) and not re.search(_TRANSLATIONS, lowered)


def may_have_setting(text: str) -> bool:
    """Whether a text of configuration may have a secret; a plain search that may be wrong."""
    lowered = text.lower()
    return "://" in text or any(word in lowered for word in _WORDS)


def may_have_literal(text: str) -> bool:
    """Whether code may have a secret; a search that may be wrong."""
    return ("://" in text and "@" in text) or bool(_LITERAL.search(text))


def masked_settings(text: str) -> str:
    """A text of configuration without the values of its secret settings."""
    if "://" in text and "@" in text:
        text = re.sub(_URL, lambda url: _without(url[0], url[1], "password", url[2]), text)
    lowered = text.lower()
    if any(word in lowered for word in _WORDS):
        text = re.sub(_AT_START, lambda line: _without(line[0], line[1], line[2], line[3]), text)
        text = re.sub(_WITHIN, lambda part: _without(part[0], part[1], part[2], part[3]), text)
        if "<" in text:
            text = re.sub(
                _ELEMENT, lambda tag: _without(tag[0], tag[1], tag[2] or tag[3], tag[4]), text
            )
    return text


def masked_literals(text: str) -> str:
    """Code without literals of secret names, and without passwords in URLs, that look random."""
    if "://" in text and "@" in text:
        text = re.sub(_URL, _without_random_password, text)
    if _LITERAL.search(text):
        text = re.sub(_GIVEN_LITERAL, _without_random_literal, text)
    return text


def _without(whole: str, before: str, name: str, value: str) -> str:
    return before + MASK if _is_secret(name.lower(), value) else whole


def _without_random_password(url: re.Match[str]) -> str:
    password = url[2]
    has_both = any(map(str.isdigit, password)) and any(map(str.isalpha, password))
    is_shown = len(password) < 8 or not has_both or set(password) & set("${}()[]%+,;\\")
    return url[0] if is_shown else url[1] + MASK


def _without_random_literal(literal: re.Match[str]) -> str:
    is_key = is_random(literal[2]) or bool(re.fullmatch(_HEXADECIMAL, literal[2]))
    return literal[1] + MASK if is_key else literal[0]


def _is_secret(name: str, value: str) -> bool:
    """Whether the value of a setting with a secret name is the secret itself."""
    is_password = bool(re.search(_OF_PASSWORDS, name))
    value = value.strip().strip("\\\"'").strip()
    word = value.rstrip(".:?!*… ")
    if len(word) < 4 or word == MASK or word.lower() in _NO_VALUES or re.match(_REFERS, value):
        return False
    if any(map(str.isspace, word)):
        return not all(part.strip(",.:;'()-").isalpha() for part in word.split())
    if word.isalpha():
        is_word = not word.isascii() or word[0].isupper()
        return len(word) > 20 or (is_password and not is_word)
    if "(" in word or re.match(_VERSION, word):
        return False
    has_digit = any(map(str.isdigit, word))
    return is_password or (has_digit and not word.isdigit()) or len(word) > 40
