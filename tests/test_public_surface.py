"""The contents of `import codelens`: the names, lazily, and the examples of docs/python.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from gitrepo import GitRepo

import codelens

PAGE = Path(__file__).resolve().parent.parent / "docs" / "python.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
CODE = "def validate_session(token):\n    return token\n\n\ndef login():\n    validate_session(1)\n"


def typed_names() -> set[str]:
    source = Path(str(codelens.__file__)).read_text("utf-8")
    return set(re.findall(r"^    from \S+ import (\w+) as \1$", source, re.MULTILINE))


def test_each_public_name_is_there_and_known_to_type_checkers() -> None:
    names = {name for names in codelens._PUBLIC.values() for name in names}
    assert names == typed_names()
    for name in names:
        assert getattr(codelens, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = codelens.Nothing  # type: ignore[attr-defined]


def test_the_engine_is_imported_when_it_is_used() -> None:
    script = "import sys, codelens; assert 'codelens.engine' not in sys.modules; codelens.Engine"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_page_run(
    example: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    repo = GitRepo.init(tmp_path / "repo")
    repo.commit("first", {"auth.py": CODE})
    monkeypatch.setenv("CODELENS_HOME", str(tmp_path / "home"))
    exec(example, {"worktree": repo.root})
    out = capsys.readouterr().out
    assert "validate_session" in out or "no-such-branch" in out
