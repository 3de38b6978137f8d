"""`codelens meaning`: shows the table of word meanings and manages providers of vectors."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from functools import partial

from codelens.cli import screen, shared_options
from codelens.cli.argument_parser import UsageError
from codelens.cli.shared_options import asking
from codelens.render import upkeep_text
from codelens.wording import count_of

_ACTIONS = ("status", "test", "enable", "disable", "sync", "prune", "clear", "list", "download")


def add_meaning(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "meaning", "show which words are close in meaning, and manage vector providers",
        "status: show the word table, the provider, and how many vectors exist. test: show the "
        "words closest in meaning to a query. enable: allow texts of this repository to be sent to "
        "a provider (shows what would be sent, and asks). sync: send the texts that have no vector "
        "yet. disable: stop sending texts. prune: remove the provider's vectors of texts that no "
        "branch or worktree has any more. clear: remove all of its vectors. list: list the "
        "repositories with a provider, by state. download: fetch a model for the provider local "
        "(shows its size, and asks).",
    )  # fmt: skip
    parser.add_argument("action", choices=_ACTIONS)
    parser.add_argument("query", nargs="*", help="with test: words or a sentence")
    parser.add_argument(
        "--provider", metavar="NAME", help="with enable: a provider of docs/providers.md"
    )
    parser.add_argument(
        "--model",
        default="",
        metavar="NAME",
        help="with enable: a model other than the default (local: or its folder); with download: "
        "OWNER/NAME",
    )
    parser.add_argument(
        "--endpoint", default="", metavar="URL", help="with enable: another URL to send texts to"
    )
    parser.add_argument(
        "--store", default="", metavar="URL",
        help="with enable: search the vectors in this Milvus or Zilliz (default: a local file)",
    )  # fmt: skip
    parser.add_argument(
        "--hybrid",
        action="store_true",
        help="with enable: also send stemmed words to the store, which ranks by them too",
    )
    parser.add_argument("--yes", action="store_true", help="with enable and download: do not ask")
    parser.add_argument(
        "--most", type=shared_options.positive, metavar="N", help="with sync: send at most N texts"
    )
    shared_options.add_view(parser)


def run_meaning(args: argparse.Namespace) -> int:
    """Run the action; return 1 for unknown words, an unreadable table, or without a provider."""
    actions = {
        "status": _status, "test": _test, "enable": _enable, "disable": _disable,
        "sync": _sync, "prune": _prune, "clear": _clear, "list": _list,
        "download": _download,
    }  # fmt: skip
    return actions[args.action](args)


def _status(args: argparse.Namespace) -> int:
    with asking() as (engine, bar):
        answer = engine.meaning_status(**shared_options.view(args, engine, bar))
    screen.show(
        answer,
        partial(upkeep_text.under, "meaning"),
        upkeep_text.meaning_lines(answer),
        as_json=args.json,
    )
    return 1 if answer.damage else 0


def _test(args: argparse.Namespace) -> int:
    with asking() as (engine, _):
        answer = engine.meaning_test(" ".join(args.query))
    screen.show(answer, asdict, upkeep_text.meaning_test_lines(answer), as_json=args.json)
    return 0 if answer.near else 1


def _enable(args: argparse.Namespace) -> int:
    if not args.provider:
        raise UsageError("enable needs --provider NAME; docs/providers.md lists the providers")
    with asking() as (engine, bar):
        plan = engine.meaning_plan(
            args.provider, model=args.model, endpoint=args.endpoint, store=args.store,
            hybrid=args.hybrid, path=args.path, ref=args.ref, progress=bar,
        )  # fmt: skip
        if not args.yes:
            if args.json:
                screen.put_json(upkeep_text.under("plan", plan))
            else:
                screen.page(*upkeep_text.provider_plan_lines(plan))
            if args.json or not screen.can_ask():
                raise UsageError(
                    "nothing was enabled or sent: there is no terminal to confirm on; pass --yes"
                )
            question = "Send this repository's texts there?" if plan.endpoint else "Enable it?"
            if not screen.agreed(question):
                screen.say("nothing was enabled or sent")
                return 1
        answer = engine.meaning_enable(
            args.provider, model=args.model, endpoint=args.endpoint, store=args.store,
            hybrid=args.hybrid, path=args.path,
        )  # fmt: skip
    if args.json:
        screen.put_json({**upkeep_text.under("plan", plan), "enabled": asdict(answer)})
    else:
        screen.page(*upkeep_text.provider_enabled_lines(answer))
    return 0


def _download(args: argparse.Namespace) -> int:
    if not args.model:
        raise UsageError("download needs --model OWNER/NAME; docs/providers.md names some")
    with asking() as (engine, _):
        files = engine.meaning_model(args.model)
        screen.put(upkeep_text.model_files_line(files))
        if not args.yes:
            if not screen.can_ask():
                raise UsageError(
                    "nothing was downloaded: there is no terminal to confirm on; pass --yes"
                )
            if not screen.agreed("Download it?"):
                screen.say("nothing was downloaded")
                return 1
        engine.meaning_download(args.model)
    screen.put(f"next: `codelens meaning enable --provider local --model {args.model}`")
    return 0


def _disable(args: argparse.Namespace) -> int:
    with asking() as (engine, _):
        was_enabled = engine.meaning_disable(path=args.path)
    if args.json:
        screen.put_json({"disabled": was_enabled})
    else:
        screen.put("disabled: nothing is sent" if was_enabled else "no provider was enabled")
    return 0 if was_enabled else 1


def _sync(args: argparse.Namespace) -> int:
    with asking() as (engine, bar):
        answer = engine.meaning_sync(
            path=args.path, ref=args.ref, most_texts=args.most, progress=bar
        )
    lines = upkeep_text.vectors_synced_lines(answer)
    screen.show(answer, partial(upkeep_text.under, "sync"), lines, as_json=args.json)
    return 0


def _prune(args: argparse.Namespace) -> int:
    with asking() as (engine, bar):
        answer = engine.meaning_prune(path=args.path, progress=bar)
    screen.show(answer, asdict, [upkeep_text.vectors_pruned_line(answer)], as_json=args.json)
    return 0


def _clear(args: argparse.Namespace) -> int:
    with asking() as (engine, _):
        freed = engine.meaning_clear(path=args.path)
    if args.json:
        screen.put_json({"freed_bytes": freed})
    else:
        screen.put(f"the provider's vectors were removed; {count_of(freed, 'byte')} of disk freed")
    return 0


def _list(args: argparse.Namespace) -> int:
    with asking() as (engine, _):
        answer = engine.meaning_list()
    lines = upkeep_text.provider_list_lines(answer)
    screen.show(answer, upkeep_text.provider_list_json, lines, as_json=args.json)
    return 0 if answer else 1
