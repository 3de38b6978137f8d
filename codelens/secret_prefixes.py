"""Tokens that are known by what their issuer begins them with."""

from __future__ import annotations

_WITH_DIGIT = r"(?=[\w-]*\d)[\w-]{16,}"
"""Where names in code may begin so too."""
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
    **dict.fromkeys("pypi- CLOJARS_".split(), r"[\w-]{16,}"),
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
    # JSON web tokens, and what else is JSON in base 64.
    "eyJ": r"[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",
}  # fmt: skip
"""What such a token begins with -> the pattern of the rest."""


def _pattern() -> str:
    alternatives: dict[str, list[str]] = {}
    for start, rest in _WORDS.items():
        alternatives.setdefault(rest, []).append(start.replace(".", r"\."))
    parts = [f"(?:{'|'.join(starts)}){rest}" for rest, starts in alternatives.items()]
    # No letter before: `task-...` is no `sk-...`.
    return rf"(?<![A-Za-z0-9])(?:{'|'.join(parts)})"


PATTERN = _pattern()


def may_be_in(text: str) -> bool:
    """Whether a text has one of the beginnings in it."""
    return any(start in text for start in _WORDS)
