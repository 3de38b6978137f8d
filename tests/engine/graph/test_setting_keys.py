"""A changed default in settings reports the readers of its key as possible uses."""

from __future__ import annotations

import pytest
from gitrepo import GitRepo
from shop_repository import Run

FILES = {
    "proj/settings.py": (
        'DEFAULTS = {\n    "TIMEOUT": 10,\n    "RETRY_COUNT": 3,\n'
        '    "nested": {\n        "deep": 1,\n    },\n}\nSESSION_AGE = 3\n'
    ),
    "proj/use.py": (
        "def attribute(settings):\n    return settings.TIMEOUT\n\n\n"
        'def subscript(config):\n    return config["TIMEOUT"]\n\n\n'
        'def getter(config):\n    return config.get("TIMEOUT", 3)\n\n\n'
        "def stranger(thing):\n    return thing.TIMEOUT\n\n\n"
        "def distinctive(api):\n    return api.RETRY_COUNT\n\n\n"
        'def nested(values):\n    return values["nested"]["deep"]\n\n\n'
        'def by_getattr(settings):\n    return getattr(settings, "SESSION_AGE")\n\n\n'
        "class Settings:\n    TIMEOUT = 3\n\n\n"
        "def known():\n    return Settings.TIMEOUT\n\n\n"
        'def said():\n    return print("TIMEOUT")\n'
    ),
    "web/conf.ts": "export const DEFAULTS = {\n  timeout: 1000,\n};\n",
    "web/use.ts": (
        "function attribute(options: any) { return options.timeout; }\n"
        "function taken() { const { timeout } = this.config; return timeout; }\n"
        "function stranger(e: any) { return e.timeout; }\n"
    ),
    "config/app.yml": "server:\n  limit: 10\n  max-size: 3\nname: x\n",
    "src/App.java": (
        'class App {\n  @Value("${server.limit}") int limit;\n'
        '  int size(Environment env) { return env.getProperty("server.max-size"); }\n}\n'
    ),
    "src/main.go": (
        'package main\n\nfunc limit() int { return viper.GetInt("server.limit") }\n\n'
        'type Server struct {\n\tMax int `yaml:"max-size"`\n}\n'
    ),
    ".env": "DATABASE_URL=x\nPORT=3\n",
    "src/db.rb": 'def url\n  ENV["DATABASE_URL"]\nend\n\ndef port\n  ENV.fetch("PORT")\nend\n',
    "src/db.js": "function url() { return process.env.DATABASE_URL; }\n",
    "src/db.py": 'def url():\n    return os.environ["DATABASE_URL"]\n',
    "src/db.rs": 'fn url() { std::env::var("DATABASE_URL").unwrap(); }\n',
    "config/mail.php": (
        "<?php\nreturn [\n  'driver' => 1,\n  'smtp' => [\n    'host' => 1,\n  ],\n];\n"
    ),
    "src/Mail.php": (
        "<?php\nfunction driver() { return config('mail.driver'); }\n"
        "function host() { return Config::get('mail.smtp.host'); }\n"
    ),
    "tool.toml": "[tool.mine]\nline-length = 3\n",
    "src/tool.py": (
        'def whole(data):\n    return data["tool"]["mine"]["line-length"]\n\n\n'
        "def spelled(config):\n    return config.line_length\n"
    ),
    "settings.json": '{\n  "editor": {\n    "tabSize": 2\n  }\n}\n',
    "src/editor.js": (
        "function attribute() { return settings.editor.tabSize }\n"
        "function text() { return getConfig('editor.tabSize') }\n"
        "function stranger() { return box.tabSize }\n"
    ),
}


@pytest.fixture
def committed() -> dict[str, str]:
    return FILES


def readers(run: Run, *args: str) -> dict[str, str]:
    """Who may read it, with the text that names it."""
    found = run(*args, "--json").json
    return {one["handle"]: one["why"] for one in found.get("may", ()) if "why" in one}


@pytest.mark.parametrize(
    ("file", "before", "after", "reported"),
    [
        (
            "proj/settings.py", '"TIMEOUT": 10', '"TIMEOUT": 11',
            {
                "proj/use.py#attribute": "reads TIMEOUT of a configuration",
                "proj/use.py#subscript": "reads TIMEOUT of a configuration",
                "proj/use.py#getter": "reads TIMEOUT of a configuration",
            },
        ),
        (
            "proj/settings.py", '    "TIMEOUT": 10,\n', "",
            {
                "proj/use.py#attribute": "reads TIMEOUT of a configuration",
                "proj/use.py#subscript": "reads TIMEOUT of a configuration",
                "proj/use.py#getter": "reads TIMEOUT of a configuration",
            },
        ),
        ("proj/settings.py", ": 3,", ": 4,", {"proj/use.py#distinctive": "reads RETRY_COUNT"}),
        ("proj/settings.py", ": 1,", ": 2,", {"proj/use.py#nested": "reads deep of nested"}),
        (
            "proj/settings.py", "AGE = 3", "AGE = 4",
            {"proj/use.py#by_getattr": "reads SESSION_AGE of settings"},
        ),
        (
            "web/conf.ts", "1000", "2000",
            {
                "web/use.ts#attribute": "reads timeout of a configuration",
                "web/use.ts#taken": "reads timeout of a configuration",
            },
        ),
        (
            "config/app.yml", "10", "11",
            {
                "src/App.java#App.limit": "reads limit of server",
                "src/main.go#limit": "reads limit of server",
            },
        ),
        (
            "config/app.yml", "size: 3", "size: 4",
            {
                "src/App.java#App.size": "reads max-size of server",
                "src/main.go#Server.Max": "reads max-size of a configuration",
            },
        ),
        (
            ".env", "=x", "=y",
            {
                "src/db.js#url": "reads DATABASE_URL of env",
                "src/db.rs#url": "reads DATABASE_URL of env",
                "src/db.py#url": "reads DATABASE_URL of a configuration",
                "src/db.rb#url": "reads DATABASE_URL of a configuration",
            },
        ),
        (".env", "=3", "=4", {"src/db.rb#port": "reads PORT of a configuration"}),
        (
            "config/mail.php", "'driver' => 1", "'driver' => 2",
            {"src/Mail.php#driver": "reads driver of mail"},
        ),
        (
            "config/mail.php", "'host' => 1", "'host' => 2",
            {"src/Mail.php#host": "reads host of smtp"},
        ),
        (
            "tool.toml", "3", "4",
            {
                "src/tool.py#whole": "reads line-length of mine",
                "src/tool.py#spelled": "reads line-length of a configuration",
            },
        ),
        (
            "settings.json", "2", "3",
            {
                "src/editor.js#attribute": "reads tabSize of editor",
                "src/editor.js#text": "reads tabSize of editor",
            },
        ),
    ],
)  # fmt: skip
def test_a_changed_default_names_the_readers_of_its_key(
    repo: GitRepo, run: Run, file: str, before: str, after: str, reported: dict[str, str]
) -> None:
    assert before in FILES[file]
    repo.write(file, FILES[file].replace(before, after, 1))
    assert readers(run, "impact", "--diff") == reported


def test_related_also_lists_the_readers_of_a_settings_line(repo: GitRepo, run: Run) -> None:
    reported = readers(run, "related", "proj/settings.py:3")
    assert reported == {"proj/use.py#distinctive": "reads RETRY_COUNT"}
    assert readers(run, "impact", "config/app.yml:2").keys() == {
        "src/App.java#App.limit", "src/main.go#limit",
    }  # fmt: skip


def test_a_changed_function_has_no_keys(repo: GitRepo, run: Run) -> None:
    text = 'def fit(settings):\n    values = {\n        "TIMEOUT": 1,\n    }\n    return values\n'
    repo.write("proj/config.py", text)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "more")
    repo.write("proj/config.py", text.replace(": 1", ": 2"))
    assert readers(run, "impact", "--diff") == {}


def test_a_key_with_too_many_readers_lists_none_and_says_so(repo: GitRepo, run: Run) -> None:
    many = "".join(f"def use_{n}(config):\n    return config.PORT\n\n\n" for n in range(101))
    repo.write("src/many.py", many)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "more")
    repo.write(".env", FILES[".env"].replace("=3", "=4"))
    found = run("impact", "--diff", "--json").json
    assert "may" not in found
    assert (
        "at least: 102 places read keys of these names, too many to distinguish" in (found["notes"])
    )


def test_of_many_keys_only_the_first_are_searched_and_reported(repo: GitRepo, run: Run) -> None:
    keys = "".join(f"KEY_NUMBER_{n}={n}\n" for n in range(100))
    repo.write(".env", keys)
    repo.write("src/late.py", 'def first():\n    return os.environ["KEY_NUMBER_1"]\n')
    found = run("impact", ".env", "--json").json
    assert [one["handle"] for one in found["may"]] == ["src/late.py#first"]
    assert any("only readers of the first 60 keys" in note for note in found["notes"])
