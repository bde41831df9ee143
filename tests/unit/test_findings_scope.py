"""A proposal touches Markdown files of its own directory, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dreams.findings import examine, examining
from dreams.findings.directories import Directory, between, compare, read
from dreams.lib.files.workspace import MAX_FILE_BYTES
from tests.world.cases import each
from tests.world.findings import FILES, changed, codes, one, report


@each(
    ("path", "code"),
    [
        ("/etc/cron.md", "path-outside"),
        ("../outside.md", "path-outside"),
        ("team/../../outside.md", "path-outside"),
        ("~/notes.md", "path-outside"),
        ("team//a.md", "path-outside"),
        ("C:notes.md", "path-outside"),
        ("team\\a.md", "path-outside"),
        (".consolidate-lock", "control-file"),
        ("team/.consolidate-lock", "control-file"),
        (".hidden.md", "dotfile"),
        (".git/config.md", "dotfile"),
        ("run.sh", "not-markdown"),
        ("notes.MD", "not-markdown"),
        ("logs/2026/03/a.md", "log-changed"),
        ("MEMORY.MD", "not-markdown"),
        ("Deploy.md", "name-collides"),
        ("deploy\u202edm.md", "name-unfit"),
        ("dep\u200bloy.md", "name-unfit"),
        ("de\nploy.md", "name-unfit"),
        ("de\x1b[2Jploy.md", "name-unfit"),
        ("d" * 260 + ".md", "name-unfit"),
        ("\u0390" * 90 + ".md", "name-unfit"),  # 270 units where names are stored decomposed
        *((f"note{char}b.md", "name-unfit") for char in '<>:"|?*'),
        ("<img src=x onerror=alert(1)>.md", "name-unfit"),
        ("C:x.md", "path-outside"),
        *((name, "name-unfit") for name in ("CON.md", "nul.md", "com1.notes.md", "LPT¹.md", "aux/a.md")),
        *((name, "name-unfit") for name in ("CLAUDE.md", "team/CLAUDE.local.md", "AGENTS.md")),
        (" a.md", "name-unfit"),
        ("team./a.md", "name-unfit"),
        ("team /a.md", "name-unfit"),
        ("gh" + "p_" + "x7Kq2ZpL9vB4nM1cD8sF3gH6jW0tR5yUaEiO.md", "name-unfit"),
    ],
)
def test_a_path_out_of_scope_is_refused(path, code):
    found = one(report({**FILES, path: b"- text\n"}), code)
    assert (found.severity, found.path) == ("refuse", path)


@pytest.mark.more
def test_a_text_that_could_not_be_read_again_to_undo_it_is_refused():
    assert "irregular" not in codes(report({**FILES, "big.md": b"x" * MAX_FILE_BYTES}))
    found = one(report({**FILES, "big.md": b"x" * (MAX_FILE_BYTES + 1)}), "irregular")
    assert found.severity == "refuse" and "4,194,304 bytes" in found.message


def test_an_odd_name_that_shows_itself_is_in_scope_and_one_that_stood_there_comes_back():
    odd = "dep\u200bloy.md"
    assert "name-unfit" not in codes(report({**FILES, "what now, größe 日本.md": b"- two\n"}))
    assert "name-unfit" not in codes(report({**FILES, odd: b"- two\n"}, {**FILES, odd: b"- one\n"}))
    back = between(FILES, {**FILES, odd: b"- two\n"})
    by_hand = replace(back, hunks=tuple(replace(hunk, by_hand=True) for hunk in back.hunks))
    assert "name-unfit" not in codes(examine(by_hand))


def test_another_unicode_form_of_a_name_is_refused():
    before = {**FILES, "caf\u00e9.md": b"- one\n"}
    assert "name-collides" in codes(report({**before, "cafe\u0301.md": b"- two\n"}, before))


def test_a_folder_that_differs_by_case_alone_is_refused():
    before = {**FILES, "team/a.md": b"- one\n"}
    assert "name-collides" in codes(report({**before, "Team/b.md": b"- two\n"}, before))
    assert "name-collides" not in codes(report({**before, "team/b.md": b"- two\n"}, before))


def test_a_rename_by_case_alone_is_refused():
    after = {("Deploy.md" if path == "deploy.md" else path): data for path, data in FILES.items()}
    assert "name-collides" in codes(report(after))


def test_a_hard_linked_file_is_refused_when_it_changes():
    subject = between(
        FILES, changed("deploy.md", "15", "16"), hard_linked=frozenset({"deploy.md", "user_role.md"})
    )
    assert [f.path for f in examine(subject).findings if f.code == "hard-linked"] == ["deploy.md"]


def test_a_file_that_became_a_link_is_refused():
    subject = replace(between(FILES, FILES), irregular={"deploy.md": "is a link, which is never followed"})
    assert one(examine(subject), "irregular").severity == "refuse"


@each("mode", [0o755, 0o600, 0o666])
def test_another_mode_is_refused(mode):
    before = Directory(FILES, dict.fromkeys(FILES, 0o644), frozenset(), {})
    after = replace(before, modes={**before.modes, "deploy.md": mode})
    found = one(examine(compare(before, after)), "irregular")
    assert (found.severity, found.path) == ("refuse", "deploy.md")
    assert f"{mode:04o}" in found.message and "0644" in found.message
    assert not examine(compare(before, before)).findings


def test_the_modes_of_a_directory_are_read(tmp_path):
    (tmp_path / "a.md").write_bytes(b"x\n")
    (tmp_path / "a.md").chmod(0o640)
    assert read(tmp_path).modes == {"a.md": 0o640}


def test_a_refusal_says_what_to_do():
    for path in ("../a.md", ".consolidate-lock", "run.sh"):
        found = next(f for f in report({**FILES, path: b"x\n"}).findings if f.severity == "refuse")
        assert found.remedy.endswith(".")


def test_team_files_and_new_memories_are_in_scope():
    after = {**FILES, "team/rules.md": b"---\ntype: project\n---\n- text\n"}
    assert "refuse" not in {f.severity for f in report(after).findings}


def test_a_pinned_memory_changes_by_hand_alone():
    before = {**FILES, "rules.md": b"---\ntype: user\npinned: true\n---\n- Be brief\n"}
    after = {**before, "rules.md": before["rules.md"] + b"- Be kind\n"}
    assert one(report(after, before), "pinned-changed").severity == "block"
    assert "pinned-changed" not in codes(report(after, before, by_hand=True))


def test_beyond_the_limit_what_must_be_confirmed_is_put_together_and_never_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(examining, "MAX_FINDINGS", 3)
    before = {
        f"{name}.md": f"{name} runs on port 80{name}.\n\n{name} is kept by Ana{name}.\n".encode()
        for name in "123"
    }
    kept = examine(between(before, {})).findings
    assert {(each.code, each.path) for each in kept} == {("unexplained-loss", path) for path in before}
    assert all("1 more here" in each.message for each in kept)

    fewer = {**before, "1.md": b"1 runs on port 801.\n"}
    assert {each.key for each in kept}.isdisjoint(
        each.key for each in examine(between(fewer, {})).findings if each.path == "1.md"
    )


def test_names_that_stand_already_and_a_missing_index_are_told_of_a_directory_that_never_dreamt():
    memory = b"---\nname: a\ndescription: d\ntype: project\n---\nThe port is 8080.\n"
    names = (
        "Deploy.md",
        "deploy.md",
        "caf\u00e9.md",
        "cafe\u0301.md",
        "plain.md",
        "größe 日本.md",
        "in\u202ene.md",
    )
    found = examining.health(dict.fromkeys(names, memory)).findings
    named = sorted((each.code, each.severity) for each in found if each.check == "scope")
    assert named == [("name-collides", "warn"), ("name-collides", "warn"), ("name-unfit", "warn")]
    assert "⟨U+202E⟩" in next(each.message for each in found if each.code == "name-unfit")
    (index,) = (each for each in found if each.code == "no-index")
    assert "7 memories" in index.message
    assert "no-index" not in {each.code for each in examining.health({"MEMORY.md": b"# Memory\n"}).findings}
    assert not examining.health({"logs/2026/01/a.md": b"- shipped\n"}).findings


def test_a_memory_that_would_keep_itself_from_being_tidied_is_told():
    """A hostile note that a model learns could pin itself."""
    plain, pinned = b"---\ntype: user\n---\n- Be brief\n", b"---\ntype: user\npinned: true\n---\n- Be brief\n"
    for before in (FILES, {**FILES, "rules.md": plain}):
        after = {**FILES, "rules.md": pinned}
        assert one(report(after, before), "pinned-unasked").severity == "warn"
        assert "pinned-unasked" not in codes(report(after, before, by_hand=True))
