"""Prints one language in detail, or all languages as a table."""

from __future__ import annotations

import argparse
import collections

from language_judges import judged
from language_judges.comparison import Comparison, Place, sampled
from language_judges.comparison import compare as compared
from language_judges.judged import EXTRA_CLASSES, MISS_CLASSES
from language_judges.plan import JUDGED, Plan, folders, plans


def compare(args: argparse.Namespace) -> None:
    """Prints one language's comparison, and writes samples to be judged.

    Raises:
        SystemExit: the language is not in the plan, or ctags does not know it.
    """
    plan = plans().get(args.language)
    if plan is None or not plan.ctags:
        raise SystemExit(f"ctags does not know {args.language} (see benchmarks/languages.toml)")
    result = compared(
        plan, folders(plan, args.repositories, args.root), int(args.megabytes * 1_000_000)
    )
    extras, misses = _paths(plan)
    if args.write_sample:
        left = judged.write(extras, EXTRA_CLASSES, result.extras, args.sample)
        print(f"{extras}: {left} rows to judge")
    if args.write_misses:
        most = args.misses or len(result.misses)
        left = judged.write(misses, MISS_CLASSES, result.misses, most)
        print(f"{misses}: {left} rows to judge")
    _print_misses(result, args)
    _print_extras(result, args)
    _print_figures(plan, result)


def _paths(plan: Plan):
    return JUDGED / f"{plan.language}.tsv", JUDGED / f"{plan.language}.misses.tsv"


def _print_misses(result: Comparison, args: argparse.Namespace) -> None:
    totals = collections.Counter(one.kind for one in result.by_ctags)
    groups: dict[str, list[Place]] = collections.defaultdict(list)
    for one in result.misses:
        groups[one.kind].append(one)
    print(f"\nMISSES (ctags has them, codelens does not): {len(result.misses)}")
    for kind, places in sorted(groups.items(), key=lambda one: -len(one[1])):
        if args.kind and kind not in args.kind:
            continue
        print(f"  {kind}: {len(places)} of {totals[kind]}")
        share = max(3, args.misses * len(places) // max(1, len(result.misses)))
        for one in sampled(places)[: share if args.misses else None]:
            print(f"    {one.repo}/{one.path}:{one.line} {one.qualified}")


def _print_extras(result: Comparison, args: argparse.Namespace) -> None:
    totals = collections.Counter(one.kind for one in result.by_codelens)
    counts = collections.Counter(one.kind for one in result.extras)
    print(f"\nEXTRAS (codelens has them, ctags does not): {len(result.extras)}")
    for kind, count in counts.most_common():
        print(f"  {kind}: {count} of {totals[kind]}")
    shown = [one for one in sampled(result.extras) if not args.kind or one.kind in args.kind]
    for one in shown[: args.sample]:
        where = f"{one.repo}/{one.path}:{one.line}"
        print(f"    {where} {one.kind} {one.qualified} | {one.signature}")


def _print_figures(plan: Plan, result: Comparison) -> None:
    figures = _figures(plan, result)
    outcomes = ", ".join(f"{count} {name}" for name, count in sorted(result.outcomes.items()))
    print(f"\n{plan.language}: {result.files} files ({outcomes}), {result.size / 1e6:.1f} MB")
    for name, value in figures.items():
        print(f"  {name}: {value}")


def _figures(plan: Plan, result: Comparison) -> dict[str, str]:
    """Cells of the table, as text; a dash if not judged yet."""
    extras_file, misses_file = _paths(plan)
    verdicts = judged.current(extras_file, EXTRA_CLASSES, result.extras)
    missed = judged.current(misses_file, MISS_CLASSES, result.misses)
    tags = len(result.by_ctags)
    right_misses = len(result.misses) * (1 - judged.share(missed, "ctags-wrong"))
    counts = collections.Counter(one.verdict for one in verdicts)
    wrong = judged.share(verdicts, "wrong") * len(result.extras) / max(1, len(result.by_codelens))
    return {
        "ctags": f"{tags:,}",
        "recall": f"{result.found / max(1, tags):.3f}",
        "recall, net of ctags' errors": (
            f"{result.found / max(1, result.found + right_misses):.3f}"
            if missed or result.dropped or not result.misses
            else "-"
        ),
        "ctags' errors by rule": f"{len(result.dropped):,}",
        "misses judged": f"{len(missed)} of {len(result.misses):,}",
        "codelens": f"{len(result.by_codelens):,}",
        "extras": f"{len(result.extras):,}",
        "right / debatable / wrong": (
            " / ".join(str(counts[one]) for one in EXTRA_CLASSES) if verdicts else "-"
        ),
        "wrong of all": f"{100 * wrong:.1f} %" if verdicts or not result.extras else "-",
    }


def table(args: argparse.Namespace) -> None:
    """Prints the markdown table of all languages in the plan that have repositories."""
    header: list[str] = []
    for plan in plans().values():
        if args.language and plan.language not in args.language:
            continue
        if not plan.ctags or not plan.repositories:
            continue
        limit = int(args.megabytes * 1_000_000)
        result = compared(plan, folders(plan, [], args.root), limit)
        figures = _figures(plan, result)
        if not header:
            header = ["language", "repositories", *figures]
            print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
        names = ", ".join(one.name for one in plan.repositories)
        print("| " + " | ".join([plan.language, names, *figures.values()]) + " |", flush=True)
