"""The plan that takes an applied plan back: bytes, names, modes, mtimes and attributes, of directories too."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .plan import Applied, FileOp, Plan, Result


def inverse(
    result: Result,
    read_text: Callable[[str], bytes],
    *,
    plan_id: str,
    made_at: str,
    meta: Mapping[str, str] | None = None,
) -> Plan:
    """Undo an applied result. `read_text` gives an old text by sha256 (from the history, or the journal).

    The plan expects each file as the result left it, so a file that was changed since is a conflict. A caller who
    writes more into a directory than its plans do (a lock file, say) gives `Plan.dir_states` its own states from
    before that. Raises ValueError for a result that was not applied, and what `read_text` raises.
    """
    if result.status != "applied":
        raise ValueError(f"{result.plan_id} was not applied ({result.status}); there is nothing to undo")
    removed = set(result.dirs_removed)
    return Plan(
        target_dir=result.target_dir,
        ops=tuple(_op(item, read_text) for item in result.applied),
        id=plan_id,
        made_at=made_at,
        meta=dict(meta or {}),
        make_dirs={rel: result.dirs_before[rel].mode for rel in removed},
        remove_dirs=result.dirs_made,
        dir_states=dict(result.dirs_before),
    )


def _op(item: Applied, read_text: Callable[[str], bytes]) -> FileOp:
    before = item.before
    if before is None:
        return FileOp(item.path, expected=item.sha256, data=None)
    text = read_text(before.sha256)
    return FileOp(item.path, item.sha256, text, before.mode, before.mtime_ns, dict(before.xattrs))
