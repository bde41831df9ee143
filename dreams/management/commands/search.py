"""`search QUERY`: search memories and their versions, titles of sessions, prompts, pastes and instruction files."""

from collections.abc import Sequence
from typing import Any

from dreams.management import base, named
from dreams.models import Project
from dreams.services.search import finding, index, query
from dreams.services.search.finding import Filters
from dreams.services.search.hits import Excerpt, InstructionHit, MemoryHit, PromptHit, SessionHit, VersionHit

# The first search after a large discovery indexes waiting texts; it says if some are left.
CATCH_UP_SECONDS = 60.0


class Command(base.Command):
    help = (
        "Search memories, their earlier versions, titles and notes of sessions, what was typed and pasted in them, and"
        " instruction files."
    )

    def arguments(self, parser: base.CommandParser) -> None:
        parser.add_argument(
            "query",
            metavar="QUERY",
            nargs="?",
            default="",
            help='words that must all occur; "in quotes": next to each other',
        )
        parser.add_argument("--project", metavar="PROJECT", help="search only this project")
        parser.add_argument(
            "--limit", type=base.limit, default=20, help=f"results of each kind, at most {finding.MOST}"
        )
        parser.add_argument("--rebuild", action="store_true", help="rebuild the search index")

    def run(self, options: base.Options) -> base.Result:
        wanted = query.parse(options["query"])
        if options["rebuild"]:
            index.begin_again()
        elif not wanted.terms:
            raise base.BadUsage(f"A search needs at least two characters, not {wanted.text!r}.")
        project = named.any_project(options["project"])
        filters, limit = Filters(project.pk if project else None), min(options["limit"], finding.MOST)
        if waiting := index.catch_up(CATCH_UP_SECONDS):
            self.say(f"{waiting:,} texts are not indexed yet; search again later to include them.")
        answers = {
            kind: [_row(hit) for hit in hits(keys(wanted, filters)[:limit], wanted)]
            for kind, (keys, hits) in finding.SEARCHED.items()
        }
        return {"query": wanted.text, **answers, "waiting": waiting}

    def words(self, result: base.Result) -> base.Words:
        rows = [
            (kind, row["project"], _place(row), row["text"])
            for kind in finding.SEARCHED
            for row in result[kind]
        ]
        if not result["query"]:
            return ["The index is being rebuilt."]
        return base.table(("what", "project", "where", "text"), rows) if rows else ["Nothing found."]


def _row(hit: Any) -> base.Result:
    match hit:
        case MemoryHit(memory=row):
            return {**_of(row.project, hit.excerpts), "path": row.path}
        case SessionHit(session=row):
            return {**_of(row.project, ()), "session": row.session_id, "text": _text_of(hit), "at": row.at}
        case VersionHit(version=row):
            place = {**_of(row.memory.project, hit.excerpts), "path": row.memory.path}
            return {**place, "version": row.sha256, "at": row.at, "still": hit.still}
        case PromptHit(prompt=row):
            # The line is that of the prompt, also for a match in its paste.
            place = {**_of(row.session.project, hit.excerpts), "session": row.session.session_id}
            return {**place, "line": row.line_no, "at": row.at}
        case InstructionHit(file=row):
            place = {**_of(hit.project, hit.excerpts), "path": row.path}
            return {**place, "scope": row.scope, "at": row.changed_at}
    raise TypeError(hit)


def _of(project: Project, excerpts: Sequence[Excerpt]) -> base.Result:
    """The fields of every row; a memory found only by its path has neither line nor text."""
    first = excerpts[0] if excerpts else None
    text = "".join(part.text for part in first.parts) if first else ""
    return {"project": str(project), "line": first.line if first else None, "text": text}


def _text_of(hit: SessionHit) -> str:
    """The title; if only the notes match, the matching line."""
    in_title = any(part.is_match for part in hit.title)
    parts = hit.excerpts[0].parts if hit.excerpts and not in_title else hit.title
    return "".join(part.text for part in parts)


def _place(row: base.Result) -> str:
    line = f":{row['line']}" if row["line"] else ""
    return f"{row.get('path') or row['session']}{line}"
