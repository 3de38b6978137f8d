"""`codelens meaning`: what words are ranked by beside themselves, and providers of vectors."""

from __future__ import annotations

import argparse

from codelens.cli import shared_options
from codelens.cli.standard_streams import Bar

_ACTIONS = ("status", "test", "enable", "disable", "sync", "prune", "clear", "list")


def add_meaning(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "meaning", "show what words are taken to mean, and use a provider of vectors",
        "status: the table of words, the provider, and what has vectors by them. test: the words "
        "that lie next to those of a query. enable: let texts of this repository be sent to a "
        "provider (tells what that would be, and asks). sync: send what has no vector yet. "
        "disable: send nothing any more. prune: remove the provider's vectors of texts that no "
        "branch or worktree has any more. clear: remove all of them. list: the repositories with a "
        "provider, by state.",
    )  # fmt: skip
    parser.add_argument("action", choices=_ACTIONS)
    parser.add_argument("query", nargs="*", help="of `test`: words or a sentence")
    parser.add_argument(
        "--provider", metavar="NAME", help="of `enable`: openai, voyage, gemini or ollama"
    )
    parser.add_argument("--model", default="", metavar="NAME", help="of `enable`: another model")
    parser.add_argument(
        "--endpoint", default="", metavar="URL", help="of `enable`: another place to send to"
    )
    parser.add_argument(
        "--store", default="", metavar="URL",
        help="of `enable`: search the vectors in this Milvus or Zilliz (default: a local file)",
    )  # fmt: skip
    parser.add_argument(
        "--hybrid",
        action="store_true",
        help="of `enable`: the store gets stemmed words, too, and ranks by them as well",
    )
    parser.add_argument("--yes", action="store_true", help="of `enable`: do not ask")
    parser.add_argument(
        "--most", type=shared_options.positive, metavar="N", help="of `sync`: N texts at most"
    )
    shared_options.add_view(parser)
    parser.set_defaults(run=run_meaning)


def run_meaning(args: argparse.Namespace) -> int:
    """Print; 1 if there is nothing to tell: an unknown word, an unreadable table, no provider."""
    actions = {
        "status": _status, "test": _test, "enable": _enable, "disable": _disable,
        "sync": _sync, "prune": _prune, "clear": _clear, "list": _list,
    }  # fmt: skip
    return actions[args.action](args)


def _status(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine, Bar() as bar:
        answer = engine.meaning_status(
            path=args.path,
            ref=args.ref,
            budget_ms=shared_options.budget_of(args, engine.settings),
            progress=bar,
        )
    if args.json:
        screen.put_json(upkeep_text.meaning_json(answer))
    else:
        screen.page(*upkeep_text.meaning_lines(answer))
        screen.say_all(answer.receipt)
    return 1 if answer.damage else 0


def _test(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine:
        answer = engine.meaning_test(" ".join(args.query))
    if args.json:
        screen.put_json(upkeep_text.meaning_test_json(answer))
    else:
        screen.page(*upkeep_text.meaning_test_lines(answer))
    return 0 if answer.near else 1


def _enable(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.cli.argument_parser import UsageError
    from codelens.cli.install_report import agreed, can_ask
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    if not args.provider:
        raise UsageError("enable needs --provider: openai, voyage, gemini or ollama")
    with Engine() as engine, Bar() as bar:
        plan = engine.meaning_plan(
            args.provider, model=args.model, endpoint=args.endpoint, store=args.store,
            hybrid=args.hybrid, path=args.path, ref=args.ref, progress=bar,
        )  # fmt: skip
        if not args.yes:
            if args.json:
                screen.put_json(upkeep_text.provider_plan_json(plan))
            else:
                screen.page(*upkeep_text.provider_plan_lines(plan))
            if args.json or not can_ask():
                raise UsageError(
                    "nothing was enabled or sent: there is no terminal to confirm on; pass --yes"
                )
            if not agreed("send this repository's texts there?"):
                screen.say("nothing enabled, nothing sent")
                return 1
        answer = engine.meaning_enable(
            args.provider, model=args.model, endpoint=args.endpoint, store=args.store,
            hybrid=args.hybrid, path=args.path,
        )  # fmt: skip
    if args.json:
        from dataclasses import asdict

        screen.put_json({**upkeep_text.provider_plan_json(plan), "enabled": asdict(answer)})
    else:
        screen.page(*upkeep_text.provider_enabled_lines(answer))
    return 0


def _disable(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine

    with Engine() as engine:
        was_enabled = engine.meaning_disable(path=args.path)
    if args.json:
        screen.put_json({"disabled": was_enabled})
    else:
        screen.put("disabled: nothing is sent" if was_enabled else "no provider was enabled")
    return 0 if was_enabled else 1


def _sync(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine, Bar() as bar:
        answer = engine.meaning_sync(
            path=args.path, ref=args.ref, most_texts=args.most, progress=bar
        )
    if args.json:
        screen.put_json(upkeep_text.vectors_synced_json(answer))
    else:
        screen.page(*upkeep_text.vectors_synced_lines(answer))
        screen.say_all(answer.receipt)
    return 0


def _prune(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine, Bar() as bar:
        answer = engine.meaning_prune(path=args.path, progress=bar)
    if args.json:
        screen.put_json(upkeep_text.vectors_pruned_json(answer))
    else:
        screen.put(upkeep_text.vectors_pruned_line(answer))
    return 0


def _clear(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.wording import count_of

    with Engine() as engine:
        freed = engine.meaning_clear(path=args.path)
    if args.json:
        screen.put_json({"freed_bytes": freed})
    else:
        screen.put(f"the provider's vectors were removed; {count_of(freed, 'byte')} of disk freed")
    return 0


def _list(args: argparse.Namespace) -> int:
    from codelens.cli import screen
    from codelens.engine.engine import Engine
    from codelens.render import upkeep_text

    with Engine() as engine:
        answer = engine.meaning_list()
    if args.json:
        screen.put_json(upkeep_text.provider_list_json(answer))
    else:
        screen.page(*upkeep_text.provider_list_lines(answer))
    return 0 if answer else 1
