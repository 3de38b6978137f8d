"""`codelens focus`: what was asked for here, how it is kept, and turning it on and off."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from codelens.cli import shared_options

if TYPE_CHECKING:
    from codelens.focus.checkout import Checkout
    from codelens.focus.focus_settings import FocusSettings
    from codelens.focus.focus_switch import OffBy
    from codelens.focus.forest_file import State

_ACTIONS = ("on", "off", "find")
_LOCK_WAIT_S = 2.0


def add(commands: shared_options.Commands) -> None:
    """Its arguments."""
    parser = shared_options.command(
        commands, "focus", "show what you have been asking for, as agents see it at each prompt",
        "Shows the topics of your prompts in this worktree, as the prompt hook adds them to each "
        "prompt (`codelens install --hooks` sets it up). `focus find WORDS` searches the prompts "
        "and topics of this repository; `focus on` and `focus off` turn it on and off.",
    )  # fmt: skip
    parser.add_argument(
        "action", nargs="?", choices=_ACTIONS, metavar="on|off|find",
        help="turn it on or off, or search (default: show the state)",
    )  # fmt: skip
    parser.add_argument("words", nargs="*", metavar="WORD", help="what to search for")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--inspect", action="store_true", help="show every number in the forest")
    only.add_argument(
        "--dry-run", metavar="PROMPT", help="show where a prompt would go; changes nothing"
    )
    only.add_argument("--reset", action="store_true", help="delete all prompts of this forest")
    parser.add_argument(
        "--here", action="store_true", help="only for this repository, not everywhere"
    )
    parser.add_argument(
        "--session", metavar="ID", default="",
        help="the host's session id, if the setting focus.scope is `session`",
    )  # fmt: skip
    shared_options.add_count(parser, "--limit", 10, "maximum number of search results")
    shared_options.add_json(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the state, or do what was asked; 1 if there is nothing yet or nothing was found.

    Raises:
        SettingError: arguments that do not go together, or a setting that cannot be.
        ReadError: the state cannot be read or written.
    """
    from codelens.errors import ReadError, SettingError
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
            from codelens.cli import screen

            screen.say(f"warning: {damage} (`codelens doctor --fix` sets the file aside)")
        path = path_of(home, place, settings, args.session)
        return _show(args, home, place, settings, path)
    except BrokenPipeError:
        # Whoever reads the output has gone: no fault of the state.
        raise
    except OSError as error:
        raise ReadError(f"the state of focus: {error}; look at the folder {home!r}") from error


def _switch(home: str, place: Checkout, *, on: bool, here: bool) -> int:
    from codelens.cli import screen
    from codelens.focus import focus_switch

    name = place.repository if here else focus_switch.EVERYWHERE
    focus_switch.switch(home, name, on=on)
    where = "for this repository" if here else "everywhere"
    screen.say(f"focus is {'on' if on else 'off'} {where}")
    why = focus_switch.why_off(home, place.repository)
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
    from codelens.focus import focus_switch

    path = focus_switch.switch_path(home)
    return {
        "variable": "focus is off in this shell, because of CODELENS_FOCUS; unset it to turn it on",
        "damage": f"focus is off, because {path} is damaged; `codelens focus on` turns it on",
        "repository": "focus is off in this repository; `codelens focus on --here` turns it on",
        "everywhere": "focus is off; `codelens focus on` turns it on",
    }[why]


def _find(args: argparse.Namespace, home: str, place: Checkout) -> int:
    from codelens.cli import focus_report, screen
    from codelens.errors import SettingError
    from codelens.focus.inspection import searched

    words = " ".join(args.words)
    if not words.strip():
        raise SettingError("give words to search for: codelens focus find WORDS")
    results, notes = searched(home, place, words, args.limit)
    if args.json:
        screen.put_json({"results": [result._asdict() for result in results]})
    else:
        screen.page(*focus_report.found_lines(results, place.root))
    for note in notes:
        screen.say(f"note: {note}")
    if not results:
        screen.say("nothing found")
    return 0 if results else 1


def _reset(path: str) -> int:
    from codelens.cli import screen
    from codelens.errors import SettingError
    from codelens.focus import forest_file

    with forest_file.ForestLock(path, wait_s=_LOCK_WAIT_S) as ours:
        if not ours:
            raise SettingError(f"{path} is locked by another process; try again")
        there = forest_file.delete(path)
    screen.say(
        "all prompts of this forest were deleted" if there else "there was nothing to delete"
    )
    return 0


def _show(
    args: argparse.Namespace, home: str, place: Checkout, settings: FocusSettings, path: str
) -> int:
    import time

    from codelens.cli import focus_report, screen
    from codelens.focus import focus_switch
    from codelens.focus.focus_turn import as_next_prompt_finds
    from codelens.focus.inspection import inspected, rehearsed
    from codelens.hooks.written_prompt import as_written

    state: State = as_next_prompt_finds(home, place, path, settings)
    if state.note:
        screen.say(f"note: {state.note}; the next prompt sets it aside")
    now = time.time()
    if args.dry_run is not None:
        fields = rehearsed(state.forest, as_written(args.dry_run), settings)
        lines = focus_report.rehearsal_lines(fields)
    else:
        fields = inspected(state, settings, now)
        fields = {
            "worktree": place.root, "branch": place.branch, "file": path,
            "on": focus_switch.is_on(home, place.repository),
            "settings": settings._asdict(), **fields,
        }  # fmt: skip
        lines = (
            focus_report.inspection_lines(fields)
            if args.inspect
            else focus_report.state_lines(state, settings, place, now)
        )
    if args.json:
        screen.put_json(fields)
    else:
        screen.page(*lines)
    why = focus_switch.why_off(home, place.repository)
    if not args.json and why:
        screen.say(f"note: {_off(home, why)}")
    if args.dry_run is None and not state.forest.prompts:
        screen.say("no prompts yet; `codelens install --hooks` sets up your agents to report them")
        return 1
    return 0
