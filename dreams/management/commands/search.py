"""`search QUERY`: search memories and their versions, titles of sessions, prompts, pastes and instruction files."""

from collections.abc import Sequence

from dreams.management import base, named
from dreams.services.search import finding, index, query
from dreams.services.search.finding import Filters
from dreams.services.search.hits import Excerpt, PromptHit, SessionHit

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
        parser.add_argument("--limit", type=int, default=20, help="results of each kind, at most 1000")
        parser.add_argument("--rebuild", action="store_true", help="rebuild the search index")

    def run(self, options: base.Options) -> base.Result:
        wanted = query.parse(options["query"])
        if options["rebuild"]:
            index.begin_again()
        elif not wanted.terms:
            raise base.BadUsage(f"A search needs at least two characters, not {wanted.text!r}.")
        project = named.any_project(options["project"])
        filters, limit = Filters(project.pk if project else None), max(1, min(options["limit"], finding.MOST))
        if waiting := index.catch_up(CATCH_UP_SECONDS):
            self.say(f"{waiting:,} texts are not indexed yet; search again later to include them.")
        return {"query": wanted.text, **_answers(wanted, filters, limit), "waiting": waiting}

    def words(self, result: base.Result) -> base.Words:
        rows = [(kind, row["project"], _place(row), row["text"]) for kind in _KINDS for row in result[kind]]
        if not result["query"]:
            return ["The index is being rebuilt."]
        return base.table(("what", "project", "where", "text"), rows) if rows else ["Nothing found."]


_KINDS = ("memories", "sessions", "versions", "typed", "pasted", "instructions")


def _answers(wanted: query.Query, filters: Filters, limit: int) -> dict[str, list[base.Result]]:
    return {
        "memories": [
            {**_of(str(hit.memory.project), hit.excerpts), "path": hit.memory.path}
            for hit in finding.memory_hits(finding.memories(wanted, filters)[:limit], wanted)
        ],
        "sessions": [
            {
                "project": str(hit.session.project),
                "session": hit.session.session_id,
                "line": None,
                "text": _text_of(hit),
                "at": hit.session.at,
            }
            for hit in finding.session_hits(finding.sessions(wanted, filters)[:limit], wanted)
        ],
        "versions": [
            {
                **_of(str(hit.version.memory.project), hit.excerpts),
                "path": hit.version.memory.path,
                "version": hit.version.sha256,
                "at": hit.version.at,
                "still": hit.still,
            }
            for hit in finding.version_hits(finding.versions(wanted, filters)[:limit], wanted)
        ],
        "typed": [
            _of_prompt(hit) for hit in finding.typed_hits(finding.typed(wanted, filters)[:limit], wanted)
        ],
        "pasted": [
            _of_prompt(hit) for hit in finding.pasted_hits(finding.pasted(wanted, filters)[:limit], wanted)
        ],
        "instructions": [
            {
                **_of(str(hit.project), hit.excerpts),
                "path": hit.file.path,
                "scope": hit.file.scope,
                "at": hit.file.changed_at,
            }
            for hit in finding.instruction_hits(finding.instructions(wanted, filters)[:limit], wanted)
        ],
    }


def _of_prompt(hit: PromptHit) -> base.Result:
    """`line` is that of the prompt, also for a match in its paste."""
    return {
        **_of(str(hit.prompt.session.project), hit.excerpts),
        "session": hit.prompt.session.session_id,
        "line": hit.prompt.line_no,
        "at": hit.prompt.at,
    }


def _of(project: str, excerpts: Sequence[Excerpt]) -> base.Result:
    """The fields of every row; a memory found only by its path has neither line nor text."""
    first = excerpts[0] if excerpts else None
    text = "".join(part.text for part in first.parts) if first else ""
    return {"project": project, "line": first.line if first else None, "text": text}


def _text_of(hit: SessionHit) -> str:
    """The title; if only the notes match, the matching line."""
    in_title = any(part.is_match for part in hit.title)
    parts = hit.excerpts[0].parts if hit.excerpts and not in_title else hit.title
    return "".join(part.text for part in parts)


def _place(row: base.Result) -> str:
    line = f":{row['line']}" if row["line"] else ""
    return f"{row.get('path') or row['session']}{line}"
