"""Compares SQLite's FTS5 with the postings of codelens: time, size, and candidates found.

    python benchmarks/fts5.py REPOSITORY [--home HOME]

The chunks of the repository's view go into an FTS5 table (the terms of codelens, separated by
blanks, so that both search the same words; contentless, detail=full), with the fields of its
BM25F. Each query (names, words, sentences, questions, common words, from `queries.py`) is then
asked, warm. CPU of the process:

- fts5 match: the rows that hold any term (`MATCH a OR b`), as a custom score would need them;
- fts5 bm25: the 200 best rows by bm25(3, 2, .75, 1, 1), which scores every matching row;
- codelens: `candidates.weigh` and `choose`: postings, BM25F by field over the view, the best files.

`agree` is the share of the 20 best files of codelens that are among the 200 best chunks of FTS5.
The FTS5 table holds one view; in an index shared by worktrees its scores would depend on the other
worktrees.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import apsw
from queries import queries

from codelens.config import Settings
from codelens.engine.current_view import ViewRequest
from codelens.engine.engine import Engine
from codelens.extract.tokenizer import terms_of_text
from codelens.rank.query.query_analysis import Query, analyse
from codelens.rank.scoring import candidates
from codelens.rank.view_statistics import Corpus, corpus_of
from codelens.store.views.snapshot import Snapshot
from codelens.store.views.views import FileRow

BEST = 200
AGREE = 20
KINDS = ("symbol", "words", "sentence", "question", "common")
INSERT = "INSERT INTO t (rowid, names, stem, folders, body, docs) VALUES (?, ?, ?, ?, ?, ?)"
MATCHING = "SELECT rowid FROM t WHERE t MATCH ?"
BEST_ROWS = f"{MATCHING} ORDER BY bm25(t, 3, 2, .75, 1, 1) LIMIT {BEST}"


def fill(db: apsw.Connection, view: Snapshot, read: Callable[..., bytes | None]) -> list[int]:
    """Writes all chunks; returns the path id of each row."""
    db.execute(
        "CREATE VIRTUAL TABLE t USING fts5(names, stem, folders, body, docs, content='',"
        " tokenize=\"unicode61 tokenchars '_'\")"
    )
    files: list[int] = [0]
    facts = view.path_facts([file.path_id for file in view.files])
    db.execute("BEGIN")
    for file in view.files:
        if file.content is None:
            continue
        lines = (read(file) or b"").decode("utf-8", "replace").split("\n")
        symbols = view.symbols([file.content]).get(file.content, [])
        about = facts[file.path_id]
        for chunk in view.chunks([file.content]).get(file.content, []):
            here = [one for one in symbols if chunk.start_line <= one.start_line <= chunk.end_line]
            row = (
                terms(" ".join(one.name for one in here)),
                about.stem,
                about.folders,
                terms("\n".join(lines[chunk.start_line - 1 : chunk.end_line])),
                terms(" ".join(one.doc for one in here)),
            )
            files.append(file.path_id)
            db.execute(INSERT, (len(files) - 1, *row))
    db.execute("COMMIT")
    db.execute("INSERT INTO t (t) VALUES ('optimize')")
    return files


def terms(text: str) -> str:
    return " ".join(terms_of_text(text))


def timed(ask: Callable[[], object]) -> tuple[float, object]:
    """Milliseconds of CPU, the best of three, and the answer."""
    best, found = float("inf"), None
    for _ in range(3):
        started = time.process_time()
        found = ask()
        best = min(best, (time.process_time() - started) * 1000)
    return best, found


def all_rows(db: apsw.Connection, sql: str, match: tuple[str]) -> list[tuple]:
    return db.execute(sql, match).fetchall()


def chosen(view: Snapshot, corpus: Corpus, query: Query) -> list[FileRow]:
    weighed, _ = candidates.weigh(view, corpus, query.terms)
    return candidates.choose(corpus, weighed, [], None, query.single)


def compare(view: Snapshot, db: apsw.Connection, files: list[int], texts: list[str]) -> None:
    corpus = corpus_of(view)
    took: dict[str, list[float]] = {"fts5 match": [], "fts5 bm25": [], "codelens": []}
    agree: list[float] = []
    for text in texts:
        query = analyse(text)
        if not query.terms:
            continue
        match = (" OR ".join('"' + one.text.replace('"', '""') + '"' for one in query.terms),)
        ms, _ = timed(partial(all_rows, db, MATCHING, match))
        took["fts5 match"].append(ms)
        ms, rows = timed(partial(all_rows, db, BEST_ROWS, match))
        took["fts5 bm25"].append(ms)
        ms, best = timed(partial(chosen, view, corpus, query))
        took["codelens"].append(ms)
        theirs = {files[row[0]] for row in rows}
        mine = [one.path_id for one in best[:AGREE]]
        agree.append(sum(one in theirs for one in mine) / len(mine) if mine else 1.0)
    print(f"{len(agree)} queries, {len(files) - 1} chunks, {len(view.files)} files")
    for name, values in took.items():
        values.sort()
        p50, p95 = values[len(values) // 2], values[int(len(values) * 0.95)]
        print(f"{name:12} p50 {p50:6.1f} ms  p95 {p95:6.1f} ms")
    print(f"agree {sum(agree) / len(agree):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "codelens-fts5")
    parser.add_argument("--queries", type=int, default=150)
    args = parser.parse_args()
    with (
        Engine(Settings(home=args.home)) as engine,
        tempfile.TemporaryDirectory() as folder,
        engine.pool.view(ViewRequest(args.repository)) as view,
        view.reading(),
    ):
        db = apsw.Connection(str(Path(folder) / "fts.db"))
        started = time.process_time()
        files = fill(db, view.snapshot, view.read)
        size = (Path(folder) / "fts.db").stat().st_size
        print(f"fts5: written in {time.process_time() - started:.1f} s of CPU, {size / 1e6:.1f} MB")
        texts = [one.text for one in queries(view, args.queries) if one.kind in KINDS]
        compare(view.snapshot, db, files, texts)
        db.close()


if __name__ == "__main__":
    main()
