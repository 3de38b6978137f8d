"""Masks secrets in prompts and answers before anything is written.

codelens has its own rules: scanners such as detect-secrets take longer to import than a prompt hook
may take in total. The rules mask
- private keys in PEM, SSH2 and PuTTY form, whole or truncated;
- tokens with a prefix from their issuer, and JSON web tokens;
- the user information of a URL, and the path of a chat webhook;
- the value after `Bearer`, `Basic`, or a name that contains `password`, `secret`, `token`,
  `api key` or the like, followed by `=`, `:` or `is`; if only a blank follows such a name, a value
  that cannot be a word; the word for password in many languages counts as `password`;
- passwords of netrc, and what Docker and npm store under `auth`: name and password in base 64;
- values of command-line options such as `--password` and `-u name:password`;
- hexadecimal numbers of 32 or more digits, except the 40 of a commit;
- long runs of mixed letters and digits that look random.

Compiling the expressions takes a prompt hook 10 ms of CPU. So a plain search first checks whether a
rule can apply at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable

MASK = "***"
_LONGEST_READ = 16_000
_PRIVATE_KEY = r"-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY"
_PUTTY = r"(?s)(Private-Lines: *\d+).*?(?:Private-(?:MAC|Hash): *[0-9a-fA-F]+|(?=\s*\n\s*\n|\Z))"
_PASSWORD_ABROAD = (
    "パスワード", "暗証番号", "密码", "密碼", "口令", "비밀번호", "암호", "пароль", "contraseña",
    "contrasen\u0303a", "contrasena", "senha", "passwort", "kennwort", "wachtwoord",
    "mot de passe",  # codespell:ignore mot
    "lösenord", "adgangskode", "salasana", "hasło", "heslo", "jelszó", "şifre", "mật khẩu",
    "kata sandi", "κωδικός", "पासवर्ड", "รหัสผ่าน", "סיסמה", "كلمة المرور", "كلمة السر",
)  # fmt: skip
_NAMES = (
    "passw", "passphrase", "passcode", "pwd", "pass", "secret", "token", "api_key", "apikey",
    "api-key", "api key", "access_key", "accesskey", "access-key", "access key", "accountkey",
    "account_key", "private_key", "private-key", "signing_key", "encryption_key", "credential",
    "auth", "bearer", "basic", "cookie", "session_id", "sessionid", "session-id", "sessid",
    "signature", "sig", *_PASSWORD_ABROAD,
)  # fmt: skip
"""Lower-case substrings, of which every name below has one."""
_REST_OF_NAME = "abcdefghijklmnopqrstuvwxyz0123456789_-\\\"'*`"
_NAME = (
    r"(?:passw(?:or[dt]|d)?|passphrase|passcode|pwd|(?<![a-z])pass(?![a-z])|secret|token"
    r"|api[_ -]?key|access[_ -]?key|account_?key|private[_-]?key|(?:signing|encryption)_key"
    r"|credentials?|authorization|(?<![a-z])cookie(?![a-z])|sess(?:ion)?[_-]?id"
    rf"|(?<![a-z])sig(?:nature)?(?![a-z])|{'|'.join(_PASSWORD_ABROAD)})"
)
_GIVEN = (
    rf"(?i)(?<![\w-])([\w-]{{0,60}}?{_NAME}[\w-]{{0,60}}(?:\\?[\"']|[*`]{{1,3}})?)"
    r"(\s*(?::=|=>|[=:：＝])(?:\*\*?(?!\*))?\s*|\s+is\s+|\s+)"
    r"(\\?\"[^\"\n]+\"|'[^'\n]+'|`[^`\n]+`"
    r"|(?!(?:bearer|basic)\b)[^\s;\"'`]+?(?=[,.)\]}>]*(?:[\s;\"'`]|$)))"
)
_AUTHORIZATION = (
    r"(?i)(authorization\\?[\"']?\s*[:=]\s*\\?[\"']?"
    r"(?:bearer|basic|token|digest|apikey|negotiate)\s+)[^\s\"'`\\]+"
)
_IN_NETRC = (
    r"(?i)((?:\bmachine\s+\S+\s+|(?<!\S)default\s+(?=(?:(?:login|account)\s+\S+\s+)+password"
    r"\s+\S*[^a-z\s]))(?:(?:login|account)\s+\S+\s+)+password\s+"
    r"|\bmachine\s+\S+\s+password\s+(?=\S+\s+(?:login|account)\s))\S+"
)
_AUTH = r"(?i)((?<![a-z0-9])auth\\?[\"']?\s*[:=]\s*\\?[\"']?)([A-Za-z0-9+/]{8,}={0,2})"
_BOT = r"\b\d{6,12}:AA[\w-]{16,}"
"""A Telegram bot token."""
_IN_HEADER = r"(?i)\b((?:bearer|basic)\s+)[\w+/=.~-]{8,}"
_AS_OPTION = (
    r"(?i)((?<!\S)--[\w-]{0,40}(?:passw(?:or)?d|pass|passphrase|token|secret|key)\s+"
    r"|(?<!\S)(?:-u|--user|--proxy-user)[ =]?[^\s:]+:"
    r"|\b(?:sshpass|mysql\w*|mariadb\w*|(?:docker|podman|npm|az) login|redis-cli)\b"
    r"[^\n]{0,200}?\s-[pa]\s*)(\"[^\"\n]+\"|'[^'\n]+'|[^\s\"'`-][^\s\"'`]*)"
)
_IN_URL = r"(://)(?:[^/\s:@]*:(?!\d+[/?#])[^\s\"'`<>]*|[^/\s]*)@"
_SHORTEST_RUN, _SHORTEST_HEX, _COMMIT, _SHORTEST_RANDOM = 16, 32, 40, 28
_IN_RUNS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_=.~-")
_NARROW = {ord("＝"): "=", ord("："): ":"}
_PHRASE = (
    r"(?i)((?<![a-z])passphrases?\\?[\"']?\s*(?::=|=>|[=:：＝])[ \t]*)"
    r"(?![\"'`])([^\s,;.\"'`]{1,40}(?:[ \t]+[^\s,;.\"'`]{1,40}){2,9})(?=[,;.]?\s*(?:\n|$))"
)
_NO_PASSWORD = frozenset(
    "a an and are as at being by empty for from given hard here in incorrect invalid it its known "
    "missing needed never no not null now of off ok okay old on only optional plain plaintext "
    "public right safe secure set short strong that the then there this to too unknown unsafe "
    "valid very visible weak when where with wrong your".split()
)
"""Words that follow "the password is" in prose, and so do words in -ed, -ing, -ly and -able."""


def holds_key(text: str) -> bool:
    """Whether a text of any length contains a private key or a token with a known prefix."""
    if "PRIVATE KEY" in text and re.search(_PRIVATE_KEY, text):
        return True
    if "Private-Lines:" in text and re.search(_PUTTY, text):
        return True
    return may_be_in(text) and bool(re.search(PATTERN, text))


def masked(text: str) -> str:
    """Replace each secret in a text by `***`; truncate the text to 16,000 characters first."""
    text = text[:_LONGEST_READ]
    if "PRIVATE KEY" in text:
        text = _substituted(
            rf"(?s){_PRIVATE_KEY}.*?(?:-{{4,5}} ?END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-{{4,5}}|\Z)",
            MASK, text,
        )  # fmt: skip
    if "Private-Lines:" in text:
        text = _substituted(_PUTTY, rf"\1 {MASK}", text)
    if "://" in text and "@" in text:
        text = _substituted(_IN_URL, rf"\1{MASK}@", text)
    if ":AA" in text:
        text = _substituted(_BOT, MASK, text)
    if " -" in text or text.startswith("-"):
        text = _substituted(_AS_OPTION, rf"\1{MASK}", text)
    lowered = text.lower()
    if "password" in lowered and ("machine" in lowered or "default" in lowered):
        text = _substituted(_IN_NETRC, rf"\1{MASK}", text)
    if _may_be_given(lowered):
        text = _substituted(_AUTH, _if_name_and_password, text)
        text = _substituted(_AUTHORIZATION, rf"\1{MASK}", text)
        text = _substituted(_IN_HEADER, _unless_word, text)
        text = _substituted(_PHRASE, _unless_sentence, text)
        text = _substituted(_GIVEN, _without_value, text)
    return _without_keys(text)


def _substituted(pattern: str, by: str | Callable[[re.Match[str]], str], text: str) -> str:
    return re.sub(pattern, by, text)


def _may_be_given(lowered: str) -> bool:
    """Whether a secret may follow one of the names; a plain search that may be true by mistake."""
    for name in _NAMES:
        at = lowered.find(name)
        while at >= 0:
            at += len(name)
            after_name = lowered[at : at + 200].lstrip(_REST_OF_NAME)
            after = after_name.lstrip()
            if after[:1] in {"=", ":", "＝", "："}:
                return True
            value = after.split(None, 1)[0] if after != after_name and after else ""
            if value == "is" or any(map(str.isdigit, value)):
                return True
            if name in {"bearer", "basic"} and value and _is_value(value):
                return True
            at = lowered.find(name, at)
    return False


def _if_name_and_password(match: re.Match[str]) -> str:
    """Mask base 64 of `name:password`, which Docker and npm store, but not `"auth": "required"`."""
    import binascii

    try:
        plain = binascii.a2b_base64(match[2] + "=" * (-len(match[2]) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return match[0]
    name, colon, password = plain.partition(":")
    return match[1] + MASK if name and colon and password and plain.isprintable() else match[0]


def _unless_word(match: re.Match[str]) -> str:
    """Mask a header's value, which has digits or is very long, but not `Basic authentication`."""
    value = match.group()[len(match.group(1)) :]
    return match.group(1) + MASK if _is_value(value) else match.group()


def _unless_sentence(match: re.Match[str]) -> str:
    """Mask a passphrase of several words, unless a function word makes it a sentence."""
    words = match[2].lower().split()
    return match[0] if _NO_PASSWORD.intersection(words) else match[1] + MASK


def _without_value(match: re.Match[str]) -> str:
    """Mask x in `password: x`; in `token: x` and `... is x` only if x cannot be a word of prose."""
    name, sign, value = match.groups()
    quoted = value.lstrip("\\").startswith(('"', "'", "`"))
    lowered = name.lower()
    is_abroad = any(word in lowered for word in _PASSWORD_ABROAD)
    is_password = is_abroad or "pass" in lowered or "pwd" in lowered
    sign = sign.translate(_NARROW)
    if not sign.strip():
        hides = len(value) >= (6 if is_password else 16) and _has_digits_and_letters(value)
    elif is_abroad and not quoted and not value[0].isascii():
        hides = False  # A sentence of a language that may have no blanks.
    elif "=" in sign or is_password:
        hides = quoted or ":" in sign or "=" in sign or not _is_prose(value)
        hides = hides and (is_password or len(value) >= 4)
    else:
        hides = quoted or _is_value(value) or _is_entry(lowered, value, match)
    return f"{name}{match[2]}{MASK}" if hides else match.group()


def _is_entry(name: str, value: str, match: re.Match[str]) -> bool:
    """Whether `secret_key_base: swordfish` is a file entry: it has no type, and nothing follows."""
    rest = match.string[match.end() :].partition("\n")[0]
    is_compound = "secret" in name and ("_" in name or "-" in name)
    is_last = not rest.strip(" \t\r,}")
    return is_compound and is_last and len(value) >= 8 and value.islower() and not _is_prose(value)


def _is_prose(word: str) -> bool:
    lowered = word.lower()
    return lowered in _NO_PASSWORD or (
        lowered.isalpha() and lowered.endswith(("ed", "ing", "ly", "able"))
    )


def _has_digits_and_letters(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _is_value(text: str) -> bool:
    return any(map(str.isdigit, text)) or not text.isalpha() or len(text) > 20


def _without_keys(text: str) -> str:
    """Mask the long character runs of a text that are keys."""
    pieces: list[str] = []
    done = start = 0
    for at in range(len(text) + 1):
        if at < len(text) and text[at] in _IN_RUNS:
            continue
        if at - start >= _SHORTEST_RUN:
            run = text[start:at]
            pieces += [text[done:start], _without_key(run)]
            done = at
        start = at + 1
    return "".join([*pieces, text[done:]]) if pieces else text


def _without_key(run: str) -> str:
    if may_be_in(run):
        run = _substituted(PATTERN, MASK, run)
    return MASK if _holds_number(run) or is_random(run) else run


def _holds_number(run: str) -> bool:
    """Whether a run has a hexadecimal number so long that it must be a key or a digest."""
    digits = 0
    kinds: set[bool] = set()
    for character in f"{run}-":
        if character in "0123456789abcdefABCDEF":
            digits += 1
            kinds.add(character.isdigit())
            continue
        if digits >= _SHORTEST_HEX and digits != _COMMIT and len(kinds) == 2:
            return True
        digits = 0
        kinds.clear()
    return False


def is_random(run: str) -> bool:
    """Whether a run looks random: 28 or more characters of all three kinds that alternate.

    Names in code mix the kinds too, but change only at word boundaries.
    """
    core = run.strip("=.-_")
    size = len(core)
    if size < _SHORTEST_RANDOM or core.count("/") > max(3, size // 16):
        return False
    if core.count("-") > max(4, size // 16) or core.count(".") > 2:
        return False
    kinds = [(letter.isdigit(), letter.isupper()) for letter in core]
    changes = sum(kinds[at] != kinds[at - 1] for at in range(1, size))
    return len(set(kinds)) == 3 and changes >= size * 0.35


# Tokens with a prefix from their issuer.

_WITH_DIGIT = r"(?=[\w-]*\d)[\w-]{16,}"
"""The rest of a token whose prefix names in code may have, too."""
_WORDS = {
    # AWS: keys of users and roles.
    **dict.fromkeys("AKIA ASIA AGPA AIDA AROA ANPA ABIA ACCA".split(), r"[A-Z0-9]{12,}"),
    # GitHub, GitLab.
    **dict.fromkeys("ghp_ gho_ ghu_ ghs_ ghr_ github_pat_".split(), r"\w{16,}"),
    **dict.fromkeys(
        "glpat- gldt- glrt- glrtr- glptt- glcbt- glsoat- gloas- glimt- glagent- glffct-".split(),
        r"[\w-]{16,}",
    ),
    # Slack, Discord, Teams: the path of a webhook is its key.
    **dict.fromkeys("xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-".split(),
                    r"[\w-]{8,}"),
    **dict.fromkeys(("hooks.slack.com/services/", "discord.com/api/webhooks/",
                     "discordapp.com/api/webhooks/"), r"[\w/-]{8,}"),
    ".webhook.office.com/": r"[\w/@-]{8,}",
    # Payments: Stripe, Square, Razorpay.
    **dict.fromkeys("sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ pk_test_ whsec_".split(),
                    r"\w{8,}"),
    **dict.fromkeys("sq0atp- sq0csp- rzp_live_ rzp_test_".split(), r"[\w-]{12,}"),
    # Models: OpenAI, Anthropic, Hugging Face, Groq, xAI, Perplexity, Replicate, NVIDIA.
    "sk-": r"[\w-]{16,}",
    **dict.fromkeys("hf_ gsk_ xai- pplx- r8_ nvapi-".split(), _WITH_DIGIT),
    # Google: API keys, OAuth.
    "AIza": r"[\w-]{30,}",
    **dict.fromkeys(("ya29.", "GOCSPX-", "1//0"), r"[\w-]{16,}"),
    # Registries: npm, PyPI, RubyGems, Docker, crates.io.
    **dict.fromkeys("npm_ rubygems_ dckr_pat_ dckr_oat_".split(), r"\w{16,}"),
    "CLOJARS_": r"[\w-]{16,}",
    "pypi-": _WITH_DIGIT,
    # Clouds and services.
    "SG.": r"[\w-]{16,}\.[\w-]{16,}",
    **dict.fromkeys("dop_v1_ doo_v1_ dor_v1_ fm2_ fo1_ sbp_ sntrys_ sntryu_ figd_ ntn_".split(),
                    _WITH_DIGIT + r"[=+/\w]*"),
    **dict.fromkeys("shpat_ shpss_ shpca_ shppa_ lin_api_ lin_oauth_".split(), r"\w{24,}"),
    **dict.fromkeys("hvs. hvb. hvr. dp.pt. dp.st. dp.ct. dp.sa.".split(), r"[\w-]{16,}"),
    **dict.fromkeys("pscale_tkn_ pscale_pw_ pscale_oauth_ glsa_ glc_ tskey-".split(),
                    _WITH_DIGIT + r"[\w=.-]*"),
    **dict.fromkeys("NRAK- NRII- PMAK- ATATT3x ATCTT3x ATBB AGE-SECRET-KEY-".split(),
                    r"[\w=-]{16,}"),
    # JSON web tokens, and other JSON in base 64.
    "eyJ": r"[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",
}  # fmt: skip
"""Prefix -> pattern of the rest."""


def _pattern() -> str:
    alternatives: dict[str, list[str]] = {}
    for start, rest in _WORDS.items():
        alternatives.setdefault(rest, []).append(start.replace(".", r"\."))
    parts = [f"(?:{'|'.join(starts)}){rest}" for rest, starts in alternatives.items()]
    # No letter may precede: `task-...` is not `sk-...`.
    return rf"(?<![A-Za-z0-9])(?:{'|'.join(parts)})"


PATTERN = _pattern()


def may_be_in(text: str) -> bool:
    """Whether a text contains one of the prefixes."""
    return any(start in text for start in _WORDS)
