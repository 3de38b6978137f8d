"""Measures a search answer in tokens: by the estimate behind the limits, and by real tokenizers.

    python benchmarks/tokens.py QUERIES [--home HOME] [--tiktoken RANKS]... [--tokenizer JSON]...

A line of QUERIES is `path of a worktree|query`. RANKS is a vocabulary in tiktoken's format
(cl100k_base.tiktoken), JSON one of the `tokenizers` package. Both are inside the wheel of litellm
(litellm_core_utils/tokenizers), and `pip install tiktoken tokenizers` reads them without network.
"""

from __future__ import annotations

import argparse
import base64
import sys
from collections.abc import Callable
from pathlib import Path

from codelens.config import Settings
from codelens.engine.engine import Engine
from codelens.render import token_budget
from codelens.serve import answer_shapes

LIMIT = 100_000
SPLIT = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
"""How cl100k splits a text before it encodes it."""


def tiktoken_counter(ranks: Path) -> Callable[[str], int]:
    import tiktoken

    pairs = (line.split() for line in ranks.read_bytes().splitlines() if line)
    rank_of = {base64.b64decode(token): int(rank) for token, rank in pairs}
    encoding = tiktoken.Encoding("x", pat_str=SPLIT, mergeable_ranks=rank_of, special_tokens={})
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def json_counter(file: Path) -> Callable[[str], int]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    return lambda text: len(tokenizer.encode(text).ids)


def main() -> None:
    """Prints a row per form and tokenizer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("queries", type=Path)
    parser.add_argument("--home", type=Path, default=Path("/tmp/codelens-tokens"))
    parser.add_argument("--tiktoken", type=Path, action="append", default=[])
    parser.add_argument("--tokenizer", type=Path, action="append", default=[])
    args = parser.parse_args()
    counters = {"bytes / 3": token_budget.cost_of}
    counters |= {one.name[:12]: tiktoken_counter(one) for one in args.tiktoken}
    counters |= {one.name[:12]: json_counter(one) for one in args.tokenizer}
    texts: dict[str, list[str]] = {"concise": [], "detailed": [], "json": []}
    results = 0
    with Engine(Settings(home=args.home)) as engine:
        for line in args.queries.read_text(encoding="utf-8").splitlines():
            folder, _, query = line.partition("|")
            answer = engine.search(query, path=folder, explain=False)
            results += len(answer.results)
            for form, found in texts.items():
                found.append(answer_shapes.search(answer, form, LIMIT, brief=True))
    out = sys.stdout
    out.write(f"{len(texts['json'])} queries, {results} results; a token of each way to count\n")
    for form, found in texts.items():
        for name, count in counters.items():
            costs = [count(text) for text in found]
            share = [
                cost / token_budget.cost_of(text) for cost, text in zip(costs, found, strict=True)
            ]
            out.write(
                f"{form:9} {name:13} {sum(costs) / len(costs):7.1f} an answer,"
                f" {sum(costs) / sum(map(token_budget.cost_of, found)):.2f} of the estimate,"
                f" {max(share):.2f} at worst\n"
            )


if __name__ == "__main__":
    main()
