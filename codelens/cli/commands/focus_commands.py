"""`codelens focus`, which shows and controls the topics of prompts, and `codelens hook`."""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from codelens.cli import screen, shared_options
from codelens.errors import ReadError, SettingError

if TYPE_CHECKING:
    from codelens.focus.checkout import Checkout
    from codelens.focus.focus_settings import FocusSettings, OffBy
    from codelens.focus.forest_file import State
    from codelens.focus.inspection import FocusMatch

_PLACES = 3
"""Maximum number of branches and worktrees shown for a topic."""


def state_lines(
    state: State, settings: FocusSettings, place: Checkout, now: float
) -> Iterator[str]:
    """The context block that the next prompt would show."""
    from codelens.focus.context_block import block
    from codelens.focus.topic_code import true_handles

    text = block(
        state.forest, state.guide, settings, now=now, branch=place.label,
        handles=lambda topic: true_handles(topic, place.root),
    )  # fmt: skip
    yield from text.splitlines()


def inspection_lines(fields: Mapping[str, Any]) -> Iterator[str]:
    """All values of a forest, for `--inspect`."""
    yield f"{fields['prompts']} prompts, {fields['nodes']}/{fields['memory_size']} nodes"
    yield f"file {fields['file']}"
    for tree in fields["trees"]:
        handles = "  ".join(tree["handles"])
        yield ""
        yield f"tree {tree['id']}  score {tree['score']:.4f}  {tree['topic']}  {handles}".rstrip()
        for node in tree["nodes"]:
            indent = "  " * (node["depth"] + 1)
            yield (
                f"{indent}{node['id']} {node['kind']}  depth {node['depth']}"
                f"  weight {node['weight']:.4f}  frequency {node['frequency']}"
                f"  {'indexed' if node['indexed'] else 'not indexed'}"
                f"  score {node['score']:.4f}  {node['text']}"
            )
    documents = fields["documents"]
    yield ""
    yield f"documents: {documents['indexed']} indexed, {documents['terms']} terms"
    yield "  " + ", ".join(
        f"{document['term']} {document['prompts']}" for document in documents["top"]
    )
    yield "guide:"
    for field in fields["guide"]:
        fate = f"strengthened tree {field['reinforced']}" if field["reinforced"] else "no topic"
        yield f"  - {field['text']}  ({'new' if field['new'] else fate})"
    yield "transitions:"
    for field in fields["transitions"]:
        yield f"  {field['from']} -> {field['to']}  {field['count']}  P {field['probability']:.4f}"


def rehearsal_lines(fields: Mapping[str, Any]) -> Iterator[str]:
    """Where a prompt would go, for `--dry-run`."""
    yield f"tokens: {' '.join(fields['tokens']) or 'none'}"
    for field in fields["trees"]:
        yield (
            f"  tree {field['tree']}  cosine {field['cosine']:.4f} * boost {field['boost']:.4f}"
            f" = {field['score']:.4f}  {field['topic']}"
        )
    where = f" at node {fields['nearest']} of tree {fields['tree']}" if fields["tree"] else ""
    yield f"action: {fields['action']}{where}"


def found_lines(results: Iterable[FocusMatch], root: str) -> Iterator[str]:
    """Topics and prompts that match a search."""
    for result in results:
        day = datetime.datetime.fromtimestamp(result.touched, tz=datetime.UTC).date().isoformat()
        places = [(result.branch, result.root)]
        places += [(other["branch"], other["root"]) for other in result.elsewhere]
        where = "; ".join(
            f"{branch or 'detached'}{f' in {worktree}' if worktree not in {'', root} else ''}"
            for branch, worktree in places[:_PLACES]
        )
        more = f"; {len(places) - _PLACES} more" if len(places) > _PLACES else ""
        topic = f"  [{result.topic}]" if result.kind == "prompt" else ""
        yield f"{day}  {result.kind:6}  {result.text}{topic}  ({where}{more})"


# `codelens focus`.

_ACTIONS = ("on", "off", "find")
_LOCK_WAIT_S = 2.0


def add_focus(commands: shared_options.Commands) -> None:
    """Define the arguments."""
    parser = shared_options.command(
        commands, "focus", "show the topics of your prompts, as agents see them at each prompt",
        "Shows the topics of your prompts in this worktree, as the prompt hook adds them to each "
        "prompt (`codelens install --hooks` sets up the hook). `focus find WORDS` searches the "
        "prompts and topics of this repository; `focus on` and `focus off` turn the hook's "
        "addition on and off.",
    )  # fmt: skip
    parser.add_argument(
        "action", nargs="?", choices=_ACTIONS, metavar="on|off|find",
        help="turn it on or off, or search (default: show the state)",
    )  # fmt: skip
    parser.add_argument("words", nargs="*", metavar="WORD", help="what to search for")
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--inspect", action="store_true", help="show all topics and prompts, with scores"
    )
    only.add_argument(
        "--dry-run", metavar="PROMPT", help="show where a prompt would go; changes nothing"
    )
    only.add_argument(
        "--reset",
        action="store_true",
        help="forget all prompts of this scope (default: this worktree)",
    )
    parser.add_argument(
        "--here", action="store_true", help="with on or off: only for this repository"
    )
    parser.add_argument(
        "--session", metavar="ID", default="",
        help="the host's session id, if the setting focus.scope is `session`",
    )  # fmt: skip
    shared_options.add_count(parser, "--limit", 10, "maximum number of search results")
    shared_options.add_json(parser)


def run_focus(args: argparse.Namespace) -> int:
    """Run the action, or print the state; return 1 if it is empty or nothing was found.

    Raises:
        SettingError: arguments cannot be combined, or a setting is invalid.
        ReadError: the state cannot be read or written.
    """
    from codelens.focus.checkout import checkout_at
    from codelens.focus.focus_settings import load_settings, usable_settings
    from codelens.focus.focus_turn import home_folder, path_of

    if args.words and args.action != "find":
        raise SettingError("only `codelens focus find` takes words")
    if args.action and (args.reset or args.inspect or args.dry_run is not None):
        raise SettingError(
            f"`codelens focus {args.action}` takes no --inspect, --dry-run or --reset"
        )
    if args.here and args.action not in {"on", "off"}:
        raise SettingError(
            "--here can only be used with `codelens focus on` and `codelens focus off`"
        )
    home = home_folder()
    place = checkout_at(args.path)
    try:
        if args.action in {"on", "off"}:
            return _switch(home, place, on=args.action == "on", here=args.here)
        if args.action == "find":
            return _find(args, home, place)
        if args.reset:
            return _reset(path_of(home, place, load_settings(home), args.session))
        settings, damage = usable_settings(home)
        if damage:
            screen.say(f"warning: {damage} (`codelens doctor --fix` sets the file aside)")
        path = path_of(home, place, settings, args.session)
        return _show(args, home, place, settings, path)
    except BrokenPipeError:
        # The reader has closed the pipe: the state is fine.
        raise
    except OSError as error:
        raise ReadError(f"the state of focus: {error}; look at the folder {home!r}") from error


def _switch(home: str, place: Checkout, *, on: bool, here: bool) -> int:
    from codelens.focus import focus_settings

    name = place.repository if here else focus_settings.EVERYWHERE
    focus_settings.switch(home, name, on=on)
    where = "for this repository" if here else "everywhere"
    screen.say(f"focus is {'on' if on else 'off'} {where}")
    why = focus_settings.why_off(home, place.repository)
    if on and why:
        screen.say(f"note: {_off(home, why)}")
    elif not on and not why:
        screen.say(
            "note: it stays on in this repository, because of an earlier --here; "
            "`codelens focus off --here` turns it off"
        )
    return 0


def _off(home: str, why: OffBy) -> str:
    """Why focus is off in this repository, and what turns it on."""
    from codelens.focus import focus_settings

    path = focus_settings.switch_path(home)
    return {
        "variable": "focus is off in this shell, because of CODELENS_FOCUS; unset it to turn it on",
        "damage": f"focus is off, because {path} is damaged; `codelens focus on` turns it on",
        "repository": "focus is off in this repository; `codelens focus on --here` turns it on",
        "everywhere": "focus is off; `codelens focus on` turns it on",
    }[why]


def _find(args: argparse.Namespace, home: str, place: Checkout) -> int:
    from codelens.focus.inspection import searched

    words = " ".join(args.words)
    if not words.strip():
        raise SettingError("give words to search for: codelens focus find WORDS")
    results, notes = searched(home, place, words, args.limit)
    if args.json:
        screen.put_json({"results": [result._asdict() for result in results]})
    else:
        screen.page(*found_lines(results, place.root))
    for note in notes:
        screen.say(f"note: {note}")
    if not results:
        screen.say("nothing found")
    return 0 if results else 1


def _reset(path: str) -> int:
    from codelens.focus import forest_file

    with forest_file.ForestLock(path, wait_s=_LOCK_WAIT_S) as is_locked:
        if not is_locked:
            raise SettingError(f"{path} is locked by another process; try again")
        existed = forest_file.delete(path)
    screen.say(
        "all prompts of this scope were forgotten" if existed else "there were no prompts to forget"
    )
    return 0


def _show(
    args: argparse.Namespace, home: str, place: Checkout, settings: FocusSettings, path: str
) -> int:
    import time

    from codelens.focus import focus_settings
    from codelens.focus.focus_turn import as_next_prompt_finds
    from codelens.focus.inspection import inspected, rehearsed
    from codelens.hooks.hook_input import as_written

    state: State = as_next_prompt_finds(home, place, path, settings)
    if state.note:
        screen.say(f"note: {state.note}; the next prompt sets it aside")
    now = time.time()
    if args.dry_run is not None:
        fields = rehearsed(state.forest, as_written(args.dry_run), settings)
        lines = rehearsal_lines(fields)
    else:
        fields = inspected(state, settings, now)
        fields = {
            "worktree": place.root, "branch": place.branch, "file": path,
            "on": focus_settings.is_on(home, place.repository),
            "settings": settings._asdict(), **fields,
        }  # fmt: skip
        lines = (
            inspection_lines(fields) if args.inspect else state_lines(state, settings, place, now)
        )
    if args.json:
        screen.put_json(fields)
    else:
        screen.page(*lines)
    why = focus_settings.why_off(home, place.repository)
    if not args.json and why:
        screen.say(f"note: {_off(home, why)}")
    if args.dry_run is None and not state.forest.prompts:
        screen.say("no prompts yet; `codelens install --hooks` sets up your agents to report them")
        return 1
    return 0


# `codelens hook`: coding agents call it, and `cli.main` handles it before importing anything else.


def add_hook(commands: shared_options.Commands) -> None:
    """Define the arguments, for the help and for options before the command."""
    parser = commands.add_parser(
        "hook", help="for coding agents: answer a hook event (`install --hooks` sets it up)",
        description="Reads the host's JSON on stdin. On any error the exit code is 0 and nothing "
        "is printed; logs/hooks.log under CODELENS_HOME has the error.",
        **shared_options.help_of("hook"), allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument(
        "event", help="prompt, session-start, stop, before-edit, after-tool or before-compact"
    )


def run_hook(args: argparse.Namespace) -> int:
    """Answer one event; always return 0."""
    from codelens.hooks import hook_run

    return hook_run.run([args.event])
