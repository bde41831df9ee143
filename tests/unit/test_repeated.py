"""What the code says already is found in memories, and found anew when the code changed."""

from __future__ import annotations

from pathlib import Path

from dulwich.repo import Repo

from dreams import findings
from dreams.services.memories import derivable

MEMORY = b"---\nname: a\ntype: project\n---\n\n- `npm run ship` runs `vite build --mode live`\n- Deploys need a second pair of eyes\n"


def _repo(folder: Path, script: str) -> str:
    (folder / "package.json").write_text(f'{{"scripts": {{"ship": "{script}"}}}}\n')
    return str(folder)


def test_a_line_that_says_what_a_script_says_names_its_place(tmp_path: Path) -> None:
    repo = _repo(tmp_path, "vite build --mode live")
    (found,) = derivable.by_code({"project_shop.md": MEMORY}, repo)
    assert (found.path, found.line_no) == ("project_shop.md", 6)
    assert found.place.startswith("package.json, line 1")


def test_another_script_a_preference_and_no_repository_repeat_nothing(tmp_path: Path) -> None:
    repo = _repo(tmp_path, "vite build --mode test")
    assert derivable.by_code({"project_shop.md": MEMORY}, repo) == []
    _repo(tmp_path, "vite build --mode live")
    assert len(derivable.by_code({"project_shop.md": MEMORY}, repo)) == 1
    liked = MEMORY.replace(b"type: project", b"type: feedback")
    assert derivable.by_code({"feedback_shop.md": liked}, repo) == []
    assert derivable.by_code({"project_shop.md": MEMORY}, "") == []
    assert derivable.by_code({"project_shop.md": MEMORY}, str(tmp_path / "gone")) == []


def test_what_a_commit_did_is_gits_to_tell_and_a_persons_wish_is_not(tmp_path: Path) -> None:
    with Repo.init(str(tmp_path)) as repo:
        for said in (b"feat(photos): add retry with backoff to the uploader", b"Answer in short sentences"):
            repo.get_worktree().commit(message=said, author=b"Ana <a@b.test>", committer=b"Ana <a@b.test>")
    body = b"- Retry with backoff was added to the uploader.\n- Retry without backoff was added to the uploader.\n"
    notes = b"---\nname: a\ntype: project\n---\n\n" + body
    liked = b"---\nname: b\ntype: feedback\n---\n\n- Answer in short sentences\n"
    (found,) = derivable.repeated_lines({"project_a.md": notes, "feedback_b.md": liked}, str(tmp_path))
    assert (found.line_no, found.by) == (6, "git") and found.place.startswith("commit ")
    told = findings.health({"project_a.md": notes}, repeated=[found]).findings
    assert [(one.code, one.line_no) for one in told if one.code.startswith("in-")] == [("in-git", 6)]
