"""Proposals and reports as JSON, for all commands that print them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from itertools import chain
from typing import Any, cast

from dreams.engines.tokens import KINDS, ModelUsage
from dreams.findings.examining import rule_of
from dreams.lib.diff import Hunk as DiffHunk, hunks, split_lines
from dreams.lib.files import text
from dreams.lib.secrets import masking
from dreams.lib.secrets.masking import Mask
from dreams.management import named
from dreams.management.base import fields, in_one_line
from dreams.models import DreamRun, FileChange, Hunk, Proposal
from dreams.services import blobs, dreaming, proposals, review
from dreams.services.apply.applying import GONE, ApplyReport
from dreams.services.dreaming import unfinished
from dreams.services.proposals import summaries
from dreams.services.questions.question_states import NOW_ASKED

#: How many characters a second person must type of the digest of the shown state.
LEAST_SEEN = 12


TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")
#: What `dream` adds where no dream began.
NO_DREAM = {
    "proposal": None,
    "files": (),
    "usage": dict.fromkeys((*TOKENS, "cost_usd"), 0),
    "turns": 0,
}


def report(done: ApplyReport) -> dict[str, Any]:
    """The output of `apply` and `rollback`."""
    return {
        "proposal": done.proposal,
        "applied": [{"path": w.path, "sha256": w.sha256} for w in done.applied],
        "conflicts": [{"path": w.path, "why": w.why} for w in done.conflicts],
        "rebased": [{"path": w.path, "why": w.why, "sha256": w.sha256} for w in done.rebased],
        "untouched": list(done.untouched),
        "said": list(done.said),
        "error": done.error,
        "already": done.already,
    }


def report_words(result: dict[str, Any] | Any) -> list[str]:
    if result["already"]:
        return list(result["said"])
    lines = [f"{'wrote' if w['sha256'] else 'removed':<8} {w['path']}" for w in result["applied"]]
    lines += [f"rebased  {w['path']}: {w['why']} ({w['sha256']})" for w in result["rebased"]]
    whys = {w["path"]: w["why"].removeprefix("conflict: ") for w in result["conflicts"]}
    # The refusal names those that are gone
    lines += [f"conflict {path}: {why}" for path, why in whys.items() if why != GONE]
    lines += [f"left     {path}" for path in result["untouched"]]
    # The refusal reports the failure.
    said = [in_one_line(line) for line in (*lines, *result["said"])]
    return said or ([] if result["error"] else ["Nothing to write."])


def preview(
    path: str, now: bytes | None, then: bytes | None, outcome: str, *, is_bare: bool = False
) -> dict[str, Any]:
    """What `--preview` shows of one file: how it would be, and the lines that differ. Secrets are masked unless `is_bare`."""
    before, after = text.decode(now or b""), text.decode(then or b"")
    mask = Mask() if is_bare else Mask.of((before, after))
    lines = [
        sign + line
        for hunk in masking.hunks(mask, hunks(before, after, path=path))
        for sign, side in (("- ", hunk.base_lines), ("+ ", hunk.new_lines))
        for line in printable(side)
    ]
    sha = None if then is None else text.sha256(then)
    return {"path": path, "outcome": outcome, "sha256": sha, "diff": lines}


def preview_words(files: Iterable[Mapping[str, Any]]) -> list[str]:
    return [
        in_one_line(f"{row['path']}: {row['outcome']}") + "".join(f"\n  {line}" for line in row["diff"])
        for row in files
    ]


def dream(run: DreamRun) -> dict[str, Any]:
    """The output of `dream`: the run, and the files to review."""
    made = Proposal.of(run)
    return {
        "dream": run.public_id,
        "status": run.status,
        "error": run.error,
        "result": summaries.of_dream(run).text,
        "summary": run.summary,
        "proposal": made.public_id if made else None,
        "files": [brief(file) for file in files_of([made] if made else [])],
        "left_out": run.left_out,
        "questions": run.questions.filter(NOW_ASKED).count(),
        "unfinished": unfinished.files(run) if run.is_over else [],
        "usage": usage(run),
        "turns": sum(dreaming.is_turn(run, api_ms) for api_ms in run.turns.values_list("api_ms", flat=True)),
    }


def usage(run: DreamRun) -> dict[str, Any]:
    """The usage of a dream. `cost_usd` is null if the price of any token is unknown."""
    by_model = dreaming.used_by_model(run)
    return {
        **fields(run, *TOKENS),
        "cost_usd": None if run.whole_cost is None else float(run.whole_cost),
        "tokens_without_price": run.unpriced_tokens,
        "requests": sum(used.requests for used in by_model),
        "by_model": [_model_usage(used) for used in by_model],
        **asdict(dreaming.work_of(run)),
    }


def _model_usage(used: ModelUsage) -> dict[str, Any]:
    return {
        "model": used.model,
        "requests": used.requests,
        **{f"{kind}_tokens": getattr(used.tokens, kind) for kind in KINDS},
        "cost_usd": float(used.dollars.total) if used.dollars else None,
        "costs_usd": {kind: float(getattr(used.dollars, kind)) for kind in KINDS} if used.dollars else None,
    }


def files_of(made: Iterable[Proposal]) -> list[FileChange]:
    chosen = FileChange.objects.filter(proposal__in=list(made))
    return list(
        chosen.select_related("proposal").prefetch_related(
            "hunks__operation", "hunks__evidence", "hunks__ledger", "hunks__findings"
        )
    )


def brief(file: FileChange) -> dict[str, Any]:
    return {
        "path": file.path,
        "kind": file.kind,
        "hunks": [
            {
                "id": hunk.hunk_id,
                "operation": hunk.operation.key if hunk.operation else None,
                "findings": [f.code for f in hunk.findings.all()],
            }
            for hunk in file.hunks.all()
        ],
    }


def proposal(made: Proposal, *, diff: bool = False, is_bare: bool = False) -> dict[str, Any]:
    """All data of a proposal; with `diff`, also the lines. Secrets are masked unless `is_bare`."""
    files = files_of([made])
    mask = Mask() if is_bare else _mask(files)
    return cast("dict[str, Any]", mask.deep(_proposal(made, files, diff)))


def _mask(files: Iterable[FileChange]) -> Mask:
    edited = (hunk.edited_sha for file in files for hunk in file.hunks.all() if hunk.edited_sha)
    kept = blobs.get_many([*(sha for file in files for sha in (file.base_sha, file.new_sha)), *edited])
    return Mask.of(map(text.decode, kept.values()))


def _proposal(made: Proposal, files: Iterable[FileChange], diff: bool) -> dict[str, Any]:
    return {
        "proposal": made.public_id,
        "dream": made.dream.public_id if made.dream else None,
        "project": made.project.slug,
        "origin": made.origin,
        "partial": made.partial,
        "state": made.state,
        "result": summaries.of_proposal(made).text,
        "summary": made.summary,
        "operations": [{"key": o.key, "kind": o.kind, "reason": o.reason} for o in made.operations.all()],
        "findings": [_finding(f) for f in made.findings.select_related("file", "hunk")],
        "second_person": _second_person(made),
        "files": [_file(file, diff) for file in files],
    }


def _second_person(made: Proposal) -> dict[str, Any] | None:
    """The files that wait for a second person, who approved them, and the start of the digest of this state."""
    waits = review.second_person_waits([made]).get(made.pk)
    if waits is None:
        return None
    return {
        "files": [file.path for file in waits.files],
        "approved_by": sorted(waits.deciders),
        "seen": waits.seen[:LEAST_SEEN],
    }


def _file(file: FileChange, diff: bool) -> dict[str, Any]:
    lines = {row.pk: hunk for row, hunk in proposals.text_hunks(file)}
    return {
        "path": file.path,
        "kind": file.kind,
        "type": file.memory_type,
        "base_sha256": file.base_sha or None,
        "new_sha256": file.new_sha or None,
        "conflict": bool(file.conflict),
        "rebase_confirmed": file.rebase_confirmed,
        "hunks": [_hunk(row, lines[row.pk], diff) for row in file.hunks.all()],
    }


def _hunk(row: Hunk, lines: DiffHunk, diff: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": row.hunk_id,
        "operation": row.operation.key if row.operation else None,
        "kind": row.operation.kind if row.operation else None,
        "reason": row.operation.reason if row.operation else "",
        "verdict": row.verdict,
        "line": row.base_start + 1,
        "evidence": [
            {**fields(e, "source", "place", "role", "at", "quote", "found", "note"), "line": e.line_no}
            for e in row.evidence.all()
        ],
        "ledger": [
            {"text": g.text, "fate": g.fate, "target": g.target_path, "line": g.target_line, "note": g.note}
            for g in row.ledger.all()
        ],
        "findings": [f.code for f in row.findings.all()],
    }
    if diff:
        shown |= {"removed": printable(lines.base_lines), "added": printable(lines.new_lines)}
        # A person's lines, which replace the added ones.
        edited = split_lines(blobs.get_text(row.edited_sha)) if row.edited_sha else None
        shown["edited"] = None if edited is None else printable(edited)
    return shown


def printable(lines: Iterable[str]) -> list[str]:
    """Lines without line ends; bytes that are not UTF-8 become a replacement character."""
    return [line.rstrip("\r\n").encode("utf-8", "replace").decode("utf-8") for line in lines]


def _finding(found: Any) -> dict[str, Any]:
    return {
        **fields(found, "code", "severity", "message", "remedy"),
        "check": found.check_name,
        "path": found.file.path if found.file else "",
        "hunk": found.hunk.hunk_id if found.hunk else "",
        "line": found.line_no,
        "rule": rule_of(found.check_name, found.code, found.message_parts.get("detail", "")),
        "confirmed": found.confirmed_at is not None,
    }


def diff_words(result: dict[str, Any] | Any) -> list[str]:
    """A proposal as text for a terminal."""
    state = f"{result['state']}, unfinished work" if result["partial"] else result["state"]
    lines = [f"{result['proposal']} ({state}): {result['result']}"]
    for file in result["files"]:
        lines.append("\n" + in_one_line(f"{file['kind']} {file['path']}"))
        for hunk in file["hunks"]:
            lines.append(f"  {hunk['id']} [{hunk['verdict']}] {hunk['reason']}")
            lines += [f"    - {line}" for line in hunk.get("removed", ())]
            added = hunk.get("added", ()) if hunk.get("edited") is None else hunk["edited"]
            lines += [f"    + {line}" for line in added]
            lines += [f"      {_cited(quote)}" for quote in hunk["evidence"]]
            lines += [f"      {g['fate']} {g['target']}: {g['text']}" for g in hunk["ledger"]]
    lines += chain.from_iterable(map(named.words, result["findings"]))
    if waits := result["second_person"]:
        by = " and ".join(waits["approved_by"])
        lines += [
            f"\nWaits for a second person: {', '.join(waits['files'])}, approved by {by}. To approve exactly this: "
            f"decide {result['proposal']} --approve --second {waits['seen']}"
        ]
    return lines


def _cited(quote: Mapping[str, Any]) -> str:
    """A quote with its place; says if it was not found there, or what is known of that."""
    line = f", line {quote['line']}" if quote["line"] else ""
    mark = quote["note"] and f", {quote['note']}" if quote["found"] else f", NOT FOUND: {quote['note']}"
    return f"“{quote['quote']}” ({quote['role'] or quote['source']}, {quote['place']}{line}{mark})"
