"""A task in one call: the code it needs, packed into its token budget."""

from __future__ import annotations

import pytest
from gitrepo import GitRepo

from codelens.answers.reading_answers import ExploreAnswer
from codelens.engine.engine import Engine
from codelens.errors import QueryError, SettingError
from codelens.render import explore_text
from codelens.render.token_budget import cost_of

STORE = '''"""Where lamps are kept."""

LIMIT = 10


class Shelf:
    """Keeps lamps in the order they came."""

    def __init__(self):
        self.lamps = []

    def put(self, lamp):
        """Put a lamp on the shelf; too many are refused."""
        if len(self.lamps) >= LIMIT:
            raise ValueError("the shelf is full")
        self.lamps.append(checked(lamp))

    def take(self, name):
        return next(one for one in self.lamps if one.name == name)


def checked(lamp):
    """The lamp, if its glass is whole."""
    if lamp.cracked:
        raise ValueError("cracked")
    return lamp
'''
SHOP = """from store import Shelf


def restock(shelf: Shelf, delivered):
    for lamp in delivered:
        shelf.put(lamp)
"""
TEST = """from store import Shelf


def test_put():
    Shelf().put(object())
"""


BODY = "".join(f"    step_{at} = lamp.shelf({at})\n" for at in range(40)) + "    return lamp\n"


@pytest.fixture
def stocked(repo: GitRepo) -> GitRepo:
    repo.commit("shelf", {"store.py": STORE, "shop.py": SHOP, "tests/test_store.py": TEST})
    return repo


def shown(answer: ExploreAnswer) -> dict[str, str]:
    return {one.handle: one.part for one in answer.pieces}


def text_of(answer: ExploreAnswer, handle: str) -> str:
    return "\n".join(text for one in answer.pieces if one.handle == handle for _, text in one.lines)


def test_the_definition_of_a_task_is_shown_whole_with_its_line_numbers(
    engine: Engine, stocked: GitRepo
) -> None:
    answer = engine.explore("refuse to put a lamp on a full shelf", path=stocked.root)
    lines = STORE.split("\n")
    for one in answer.pieces:
        if one.path == "store.py":
            assert all(text == lines[number - 1] for number, text in one.lines)
    rendered = explore_text.explore(answer)
    number = lines.index('            raise ValueError("the shelf is full")') + 1
    assert f"{number}:{lines[number - 1]}" in rendered.split("\n")
    assert answer.receipt.status == "fresh"


def test_within_a_file_the_best_comes_first(engine: Engine, stocked: GitRepo) -> None:
    answer = engine.explore("refuse to put a lamp on a full shelf", path=stocked.root)
    own = [one.symbol for one in answer.pieces if one.path == "store.py"]
    assert own[0] == "Shelf.put" and len(own) > 1
    paths = [one.path for one in answer.pieces]
    assert sorted(paths, key=paths.index) == paths


def test_a_definition_that_the_task_names_is_shown_whole(engine: Engine, stocked: GitRepo) -> None:
    body = "".join(f"    step_{at} = lantern({at})\n" for at in range(350))
    stocked.write("long.py", f"def polish_lantern(lantern):\n{body}    return lantern\n")
    answer = engine.explore("polish_lantern forgets the last step", path=stocked.root)
    assert answer.pieces[0].symbol == "polish_lantern" and not answer.pieces[0].left_out
    answer = engine.explore("the last step of a lantern is forgotten", path=stocked.root)
    assert next(one for one in answer.pieces if one.symbol == "polish_lantern").left_out


def test_an_answer_stops_before_its_budget(engine: Engine, stocked: GitRepo) -> None:
    parts = {f"src/part_{at}.py": f"def lamp_shelf_{at}(lamp):\n" + BODY for at in range(60)}
    stocked.commit("parts", parts)
    answer = engine.explore("put a lamp on a shelf", path=stocked.root)
    assert cost_of(explore_text.explore(answer)) < 3500
    assert answer.more is not None and answer.more.definitions > 20
    names = [named for file in answer.named for named in file.definitions]
    assert len(names) >= 30
    filled = engine.explore("put a lamp on a shelf", path=stocked.root, max_tokens=8_000)
    assert 7_000 < cost_of(explore_text.explore(filled)) <= 8_000


def test_the_code_a_definition_uses_is_included(engine: Engine, stocked: GitRepo) -> None:
    answer = engine.explore("Shelf.put", path=stocked.root)
    assert "lamp.cracked" in "\n".join(text for one in answer.pieces for _, text in one.lines)


def test_a_refactoring_task_includes_users(engine: Engine, stocked: GitRepo) -> None:
    answer = engine.explore("rename store.py#Shelf.put to place", path=stocked.root)
    assert answer.intent == "refactor" and answer.intent_words == ("rename",)
    assert "shop.py#restock" in shown(answer)
    assert "shelf.put(lamp)" in text_of(answer, "shop.py#restock")


def test_the_tests_of_shown_code_are_listed(engine: Engine, stocked: GitRepo) -> None:
    answer = engine.explore("refuse to put a lamp on a full shelf", path=stocked.root)
    assert "tests/test_store.py" in [one.path for one in answer.tests]


def test_a_test_that_names_a_definition_is_listed_at_any_path(
    engine: Engine, stocked: GitRepo
) -> None:
    stocked.commit(
        "tests",
        {
            "tests/test_glass.py": "def test_whole():\n    assert checked(LAMP)\n",
            "tests/test_nothing.py": "def test_nothing():\n    assert True\n",
        },
    )
    answer = engine.explore("store.py#checked", path=stocked.root)
    paths = [file.path for file in answer.tests]
    assert "tests/test_glass.py" in paths
    assert "tests/test_nothing.py" not in paths


def test_names_go_by_rank_as_far_as_there_is_room(engine: Engine, stocked: GitRepo) -> None:
    parts = {f"src/part_{at}.py": f"def lamp_shelf_{at}(lamp):\n" + BODY for at in range(120)}
    stocked.commit("parts", parts)
    counts: list[int] = []
    for tokens in (1000, 8000, 16_000):
        answer = engine.explore("put a lamp on a shelf", path=stocked.root, max_tokens=tokens)
        names = [(file.path, named.name) for file in answer.named for named in file.definitions]
        places = {(piece.path, piece.symbol) for piece in answer.pieces}
        assert len(names) == len(set(names)) and not places.intersection(names)
        assert cost_of(explore_text.explore(answer)) <= tokens
        counts.append(len(names))
    assert 0 < counts[0] < counts[1]


def test_names_of_a_shown_file_stand_below_its_code(engine: Engine, stocked: GitRepo) -> None:
    members = "".join(f"def lamp_{at}(shelf):\n" + BODY for at in range(60))
    stocked.commit("part", {"src/part.py": members})
    answer = engine.explore("lamp on a shelf", path=stocked.root, max_tokens=3000)
    named = {file.path: file for file in answer.named}["src/part.py"]
    rows = explore_text.explore(answer).split("\n")
    at = rows.index(explore_text.named_here(named))
    assert rows.count("src/part.py") == 1 and rows.index("src/part.py") < at
    assert explore_text.named_file(named) not in rows


def test_names_that_are_alike_are_listed_twice_at_most(engine: Engine, stocked: GitRepo) -> None:
    kinds = "".join(
        f"class Lamp{at}:\n    def __call__(self, shelf):\n{BODY.replace('    ', '        ')}\n"
        for at in range(60)
    )
    stocked.commit("kinds", {"src/kinds.py": kinds})
    answer = engine.explore("call a lamp on a shelf", path=stocked.root, max_tokens=3000)
    for file in answer.named:
        names = [named.name.rpartition(".")[2] for named in file.definitions]
        assert all(names.count(name) <= 2 for name in names)


def test_every_listed_name_is_a_handle_of_its_file(engine: Engine, stocked: GitRepo) -> None:
    same = "class Lamp{at}:\n    def shelf(self):\n        return lamp_{at}\n\n\n"
    stocked.commit(
        "alike",
        {
            "src/kinds.py": "".join(same.format(at=at) for at in range(9))
            + "def lamp():\n    def lamp():\n        return shelf\n    return lamp\n"
            + "def lamp_of(shelf):\n    return 1\n\n\ndef lamp_of(shelf):\n    return 2\n",
            "src/Lamp.vue": "<script>\nexport default {\n  methods: {\n    shelf() {}\n  }\n}\n"
            "</script>\n",
        },
    )
    answer = engine.explore("where the glass of a lamp meets the shelf", path=stocked.root)
    listed = [(file.path, named) for file in answer.named for named in file.definitions]
    shorts = {named.short for _, named in listed}
    assert any("." in short for short in shorts) and any("." not in short for short in shorts)
    handles = [f"{path}#{named.short}" for path, named in listed]
    excerpts = engine.expand(handles, path=stocked.root).items
    assert [excerpt.asked for excerpt in excerpts] == handles
    for excerpt, (_, named) in zip(excerpts, listed, strict=True):
        assert excerpt.start_line <= named.line <= excerpt.end_line, excerpt
        assert excerpt.handle.rpartition("#")[2].endswith(named.short), excerpt


def test_the_template_of_a_report_changes_nothing(engine: Engine, stocked: GitRepo) -> None:
    title, body = "a lamp is not refused", "Put a lamp on a full shelf: no error is raised."
    report = (
        f"{title}\n<!-- restock -->\n### Describe the bug\n{body}\n### Environment\n- OS: Linux"
    )
    plain = engine.explore(f"{title}\n{body}", path=stocked.root)
    answer = engine.explore(report, path=stocked.root)
    assert answer.pieces == plain.pieces and answer.task == report


def test_no_line_is_shown_twice(engine: Engine, stocked: GitRepo) -> None:
    answer = engine.explore("shelf keeps lamps, put and take, checked glass", path=stocked.root)
    seen = [(one.path, number) for one in answer.pieces for number, _ in one.lines]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("tokens", [200, 300, 500, 1000, 4000])
def test_the_text_keeps_to_its_tokens(engine: Engine, stocked: GitRepo, tokens: int) -> None:
    stocked.write_all(
        {f"src/lamp_{at}.py": STORE.replace("Shelf", f"Shelf{at}") for at in range(30)}
    )
    answer = engine.explore("put a lamp on the shelf", path=stocked.root, max_tokens=tokens)
    assert answer.pieces
    assert cost_of(explore_text.explore(answer)) <= tokens


def test_a_long_body_is_cut_and_says_how_to_get_the_rest(engine: Engine, stocked: GitRepo) -> None:
    body = "".join(f"    step_{at} = {at}\n" for at in range(300))
    stocked.write("long.py", f"def polish(lantern):\n{body}    return 'gleaming brass'\n")
    answer = engine.explore("polish returns gleaming brass", path=stocked.root, max_tokens=2000)
    piece = next(one for one in answer.pieces if one.symbol == "polish")
    assert "gleaming brass" in text_of(answer, piece.handle)
    assert piece.left_out
    rest = engine.expand(piece.left_out, path=stocked.root)
    assert not [one.error for one in rest.items if one.error]
    assert explore_text.GAP in explore_text.explore(answer).split("\n")


def test_filters_apply_to_the_candidates(engine: Engine, stocked: GitRepo) -> None:
    answer = engine.explore("shelf of lamps", path=stocked.root, globs=["shop.py"])
    assert [one.path for one in answer.pieces if one.part == "pivot"] == ["shop.py"]
    answer = engine.explore("shelf of lamps", path=stocked.root, kinds=["class"])
    assert {one.kind for one in answer.pieces if one.part == "pivot"} == {"class"}


def test_a_frame_of_a_stack_trace_comes_first(engine: Engine, stocked: GitRepo) -> None:
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/app/store.py", line 24, in checked\n    raise ValueError("cracked")\n'
        "ValueError: cracked\n"
    )
    answer = engine.explore(trace, path=stocked.root)
    frame = next(one for one in answer.pieces if one.handle == "store.py#checked")
    assert answer.pieces[0].path == "store.py"
    assert frame.part == "pivot" and frame.about.startswith("frame 1")


def test_the_innermost_frame_of_a_report_is_worth_most(engine: Engine, stocked: GitRepo) -> None:
    report = (
        "[Bug]: restock breaks with cracked glass\n\n```\nTraceback (most recent call last):\n"
        '  File "/app/shop.py", line 6, in restock\n    shelf.put(lamp)\n'
        '  File "/app/store.py", line 16, in put\n    self.lamps.append(checked(lamp))\n'
        '  File "/app/store.py", line 24, in checked\n    raise ValueError("cracked")\n'
        "ValueError: cracked\n```\n\n### Environment\n\n- Python: 3.12\n"
    )
    answer = engine.explore(report, path=stocked.root)
    frames = {one.symbol: one.about for one in answer.pieces if one.about.startswith("frame")}
    assert {name: about.split(":")[0] for name, about in frames.items()} == {
        "checked": "frame 1", "Shelf.put": "frame 2", "restock": "frame 3",
    }  # fmt: skip
    few = engine.explore(report, path=stocked.root, max_tokens=300)
    assert [one.handle for one in few.pieces] == ["store.py#checked", "store.py#Shelf.put"]


def test_a_task_that_cannot_be_answered_is_refused_or_says_so(
    engine: Engine, stocked: GitRepo
) -> None:
    with pytest.raises(QueryError):
        engine.explore("  \n", path=stocked.root)
    for tokens in (50, 1_000_000):
        with pytest.raises(SettingError, match="between 200 and 100,000"):
            engine.explore("shelf", path=stocked.root, max_tokens=tokens)
    with pytest.raises(SettingError, match="debug, refactor, modify, explore"):
        engine.explore("shelf", path=stocked.root, intent="sing")
    assert not engine.explore("zzqqx vvwwk", path=stocked.root).pieces
    long = engine.explore("shelf of lamps " * 7000, path=stocked.root)
    assert any("10,000 characters" in note for note in long.notes)


def test_a_definition_changed_on_the_disk_is_shown_as_it_is_now(
    engine: Engine, stocked: GitRepo
) -> None:
    engine.explore("checked glass", path=stocked.root)
    stocked.write("store.py", STORE.replace('"cracked"', '"the glass is cracked"'))
    answer = engine.explore("checked glass", path=stocked.root)
    assert "the glass is cracked" in text_of(answer, "store.py#checked")
    assert "the glass" not in explore_text.explore(
        engine.explore("checked glass", path=stocked.root, ref="HEAD")
    )


def test_tests_without_room_are_counted_and_more_tokens_name_them(
    engine: Engine, stocked: GitRepo
) -> None:
    stocked.write_all({f"tests/test_shelf_{at}.py": TEST for at in range(50)})
    task = "refuse to put a lamp on a full shelf"
    small = engine.explore(task, path=stocked.root, max_tokens=600)
    assert len(small.tests) < small.test_count == 51
    assert f"tests ({len(small.tests)} of 51):" in explore_text.explore(small).split("\n")
    assert len(engine.explore(task, path=stocked.root, max_tokens=60_000).tests) == 51


def test_callers_that_are_not_looked_at_count_as_below(engine: Engine, stocked: GitRepo) -> None:
    body = "".join(f"def use_{at}():\n    return probed({at})\n\n\n" for at in range(20))
    stocked.write("probe.py", f"def probed(number):\n    return number\n\n\n{body}")
    answer = engine.explore("debug probe.py#probed", path=stocked.root, max_tokens=200)
    callers = [handle for handle in shown(answer) if "#use_" in handle]
    assert answer.more is not None
    assert answer.more.definitions >= 20 - len(callers)


def test_lines_between_members_of_a_long_type_are_left_out(
    engine: Engine, stocked: GitRepo
) -> None:
    members = "".join(
        f"    def part_{at}(self):\n        a = 1\n        return a\n\n" for at in range(40)
    )
    stocked.write("engine.py", f"class Motor:\n{members}")
    answer = engine.explore("explain engine.py#Motor", path=stocked.root, max_tokens=1500)
    (motor,) = (one for one in answer.pieces if one.handle == "engine.py#Motor")
    hidden = {number for handle in motor.left_out for number in _lines(handle)}
    shown_lines = {
        number for one in answer.pieces if one.path == "engine.py" for number, _ in one.lines
    }
    assert hidden and hidden | shown_lines == set(range(motor.start_line, motor.end_line + 1))
    assert explore_text.GAP in explore_text.explore(answer).split("\n")


def test_a_container_with_many_decorators_shows_the_line_with_its_name(
    engine: Engine, stocked: GitRepo
) -> None:
    decorators = "".join(f"@covers({at})\n" for at in range(9))
    members = "".join(f"    def part_{at}(self):\n        return {at}\n\n" for at in range(40))
    ignite = "    def ignite_spark(self):\n        return 1\n"
    stocked.write("engine.py", f"{decorators}class Motor:\n{members}{ignite}")
    answer = engine.explore("ignite the spark", path=stocked.root, max_tokens=1500)
    (motor,) = (one for one in answer.pieces if one.part == "container")
    assert motor.handle == "engine.py#Motor"
    assert motor.lines == ((9, "@covers(8)"), (10, "class Motor:"))


def _lines(handle: str) -> range:
    first, _, last = handle.rpartition(":")[2].partition("-")
    return range(int(first), int(last or first) + 1)


def test_definitions_beyond_the_lines_that_are_ranked_do_no_harm(
    engine: Engine, stocked: GitRepo
) -> None:
    many = "".join(f"def lamp_{at}():\n    return shelf\n\n\n" for at in range(5_100))
    stocked.write("long.py", f"{many}def put_lamp_on_shelf(lamp):\n    return lamp\n")
    answer = engine.explore("put a lamp on a shelf", path=stocked.root)
    assert answer.pieces
    found = engine.search("put a lamp on a shelf", path=stocked.root)
    assert any(one.path == "long.py" for one in found.results)
