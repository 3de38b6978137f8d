"""Whether `references` gives the lines that a compiler's index gives, for a sample of definitions.

    python benchmarks/scip_references.py REPOSITORY INDEX.scip [--root FOLDER/] [--sample 200]

Imports the index, then reads it again without codelens: for each sampled symbol that one place
defines, the lines of its other occurrences. Lines with overloads of the definition itself do not
count. Only certain lines of files of the index are compared.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict

from codelens.engine.engine import Engine
from codelens.errors import HandleError
from codelens.scip import scip_pb2
from codelens.scip.symbol_grammar import last_descriptor


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("repository")
    parser.add_argument("index")
    parser.add_argument("--root", default="")
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--ref")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    index = scip_pb2.Index()
    with open(args.index, "rb") as file:
        index.ParseFromString(file.read())
    defined, used, silent = defaultdict(list), defaultdict(set), defaultdict(set)
    for document in index.documents:
        path = args.root + document.relative_path
        own = {o.symbol for o in document.occurrences if o.symbol_roles & 1}
        for one in document.occurrences:
            line = one.range[0] + 1
            if one.symbol.startswith("local "):
                if one.symbol not in own:
                    silent[path, line].add(one.symbol)
            elif one.symbol_roles & 1:
                defined[one.symbol].append((path, line))
            else:
                used[one.symbol].add((path, line))
    paths = {args.root + document.relative_path for document in index.documents}
    symbols = sorted(s for s, places in defined.items() if len(places) == 1 and used[s])
    random.Random(0).shuffle(symbols)
    counts: Counter[str] = Counter()
    with Engine() as engine:
        engine.scip_import(args.index, path=args.repository)
        for symbol in symbols:
            if sum(counts[name] for name in counts if name != "no definition") >= args.sample:
                break
            (place,) = defined[symbol]
            handle = f"{place[0]}:{place[1]}"
            try:
                found = engine.references(handle, path=args.repository, ref=args.ref, limit=100_000)
            except HandleError:
                counts["no definition"] += 1
                continue
            descriptor = last_descriptor(symbol)
            name = found.target.handle.rpartition("#")[2].rpartition(".")[2]
            if descriptor is None or name != descriptor.name:
                counts["no definition"] += 1
                continue
            ours = {
                (line.path, line.line)
                for line in found.references
                if line.basis is None and not line.why and line.path in paths
            }
            theirs = used[symbol] - {place}
            missing, more = theirs - ours, ours - theirs
            verdict = (
                "equal" if not missing | more else "lines lacking" if missing else "more lines"
            )
            counts[verdict] += 1
            if args.show and verdict != "equal":
                print(verdict, symbol, sorted(missing)[:4], sorted(more)[:4])
    print(dict(counts))


if __name__ == "__main__":
    main()
