"""Makes the tasks of `judged/fresh.tsv`: commits of repositories that the given tasks leave out.

    python benchmarks/fresh_tasks.py MIRROR TASKS.jsonl
    python benchmarks/capsule.py run MIRROR ANSWERS.jsonl --tasks TASKS.jsonl --half B
    python benchmarks/capsule.py score MIRROR ANSWERS.jsonl --tasks TASKS.jsonl

`CODELENS_SHARED` names the folder of the data set, whose `capsule/build` computes what a commit
changed, used and tested; it needs `tree-sitter-language-pack`. `MIRROR` has a git folder
`owner+name/repo` for each repository.
"""

from __future__ import annotations

import collections
import csv
import importlib
import json
import os
import re
import sys
from pathlib import Path

BUILD = Path(os.environ.get("CODELENS_SHARED", "shared")) / "capsule" / "build"
COMMITS = Path(__file__).parent / "judged" / "fresh.tsv"
EDITED = "path name qual kind start end line lines need".split()


def task_of(build, repo, short: str) -> dict:
    """The task of one commit, as `build.tasks` writes it."""
    head = build.git(repo.path, "show", "-s", "--format=%H %P%n%B", short).decode()
    ids, _, message = head.partition("\n")
    commit, parent = ids.split()
    rows = build.git(repo.path, "diff", "--no-renames", "--name-status", parent, commit).decode()
    changes = [line.split("\t") for line in rows.splitlines()]
    tests = [(how, path) for how, path in changes
             if build.TEST.search(path) and build.lang_of(path, repo.short)]  # fmt: skip
    aside = {path for _, path in tests}
    sources = [path for _, path in changes
               if path not in aside and build.is_source(path, repo.short)]  # fmt: skip
    edited, needed, _ = build.truth(repo, parent, commit, sources)
    query, name = build.clean(message), repo.full.replace("+", "/")
    languages = [build.lang_of(one["path"], repo.short) for one in edited]
    language = collections.Counter(languages).most_common(1)[0][0]
    return {
        "task": f"{repo.short}-{commit[:10]}", "repo": name, "url": f"https://github.com/{name}",
        "language": build.NAMES.get(language, language.capitalize()),
        "commit": commit, "parent": parent, "query": query,
        "names_edited": any(
            len(one["name"]) > 3 and re.search(rf"(?<!\w){re.escape(one['name'])}(?!\w)", query)
            for one in edited
        ),
        "edited": [{key: one[key] for key in EDITED} for one in edited],
        "needed": needed,
        "tests": [path for how, path in tests if how == "M"],
        "tests_new": [path for how, path in tests if how == "A"],
    }  # fmt: skip


def main() -> None:
    mirror, out = Path(sys.argv[1]), Path(sys.argv[2])
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(BUILD))
    build = importlib.import_module("build")
    build.M = str(mirror)
    with out.open("w", encoding="utf-8") as file, COMMITS.open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if not (mirror / row["repo"].replace("/", "+") / "repo").exists():
                print(f"not in the mirror: {row['repo']}", file=sys.stderr)
                continue
            repo = build.Repo(row["repo"].replace("/", "+"))
            for commit in row["commits"].split():
                file.write(json.dumps(task_of(build, repo, commit), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
