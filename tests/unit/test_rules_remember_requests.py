"""What counts as plainly asked to be remembered, and what does not."""

from dreams.engines.rules.user_statements.phrases import looks_secret
from dreams.engines.rules.user_statements.requests import wishes
from tests.world.cases import each


def learnt(prompt: str) -> list[str]:
    return [wish.text for wish in wishes(prompt) if wish.handling == "learn"]


@each(
    ("prompt", "text"),
    [
        ("Remember that releases are cut on Tuesdays.", "releases are cut on Tuesdays."),
        ("please remember: our staging database is on port 5433", "our staging database is on port 5433"),
        ("Please remember that I prefer tabs. Now fix the test.", "I prefer tabs."),
        ("note for the future: integration tests need Docker", "integration tests need Docker"),
        ("for your notes: the rate limit is 600 a minute", "the rate limit is 600 a minute"),
        ("from now on, use pnpm instead of npm", "use pnpm instead of npm"),
        ("From now on always write tests first, ok?", "always write tests first"),
        ("always run make lint before you commit", "always run make lint before you commit"),
        ("Never push to main when CI is red.", "Never push to main when CI is red."),
        ("remember to run the tests before you commit", "run the tests before you commit"),
        ("save to memory: the VPN is needed for staging", "the VPN is needed for staging"),
        ("update your notes: Fridays are freeze days", "Fridays are freeze days"),
        (
            "remember that the route is /users/<id> and needs a token",
            "the route is /users/<id> and needs a token",
        ),
        ("no, use ruff instead of flake8", "use ruff instead of flake8"),
        (
            "don't mock it all, use a real container instead",
            "don't mock it all, use a real container instead",
        ),
        ("stop adding comments to every function", "stop adding comments to every function"),
        ("Actually, the API port is 8081, not 8080.", "the API port is 8081, not 8080."),
        ("Can you please remember that I work from Lisbon?", "I work from Lisbon"),
        ("We deploy from release branches only. Remember that.", "We deploy from release branches only."),
        ("Don't use yarn here. Use npm.", "Don't use yarn here. Use npm."),
        ("Use ruff instead of black from now on.", "Use ruff instead of black"),
        ("I told you to use pnpm, not npm!", "use pnpm, not npm!"),
        ("Thanks! Stop adding so many logs please", "Stop adding so many logs"),
        ("Remember, never run exports at night.", "never run exports at night."),
        ("I am a data engineer, remember that.", "I am a data engineer"),
        ("The VPN is at vpn-7.internal — keep that in mind", "The VPN is at vpn-7.internal"),
        ("Remember that this project uses uv and now run the build", "this project uses uv"),
        (
            "Never delete files unasked. Because I lost work.",
            "Never delete files unasked. Because I lost work.",
        ),
    ],
)
def test_a_plain_request_is_learnt_in_the_users_own_words_without_its_lead_in(prompt: str, text: str):
    assert learnt(prompt) == [text]


def test_a_list_after_the_request_gives_one_statement_an_item():
    assert learnt("Remember the following:\n- use uv for venvs\n- Python is 3.12 everywhere\n\nThanks") == [
        "use uv for venvs",
        "Python is 3.12 everywhere",
    ]


@each(
    "prompt",
    [
        "if I said remember that the sky is green, would you?",
        "do you remember that we use postgres?",
        "Remember when we fixed that bug",
        "remember to fix this test now",
        "remember to run the tests before you commit this",
        "remember that this test is still failing",
        'He said "remember that X is Y"',
        "Bob: remember that the cache is stale",
        "The doc says: remember that all tests are slow",
        "Here's the log:\nremember that the cache is stale",
        "> remember that quoted mails are not mine",
        "```\nremember that code is code\n```",
        "<doc>\nremember that tagged text is pasted\n</doc>",
        "No, use the other button instead of this",
        "use the second option, not the first",
        "don't do that, do this instead",
        "stop the server",
        "stop running the tests now",
        "never mind, I'll do it",
        "We never got this to work",
        "Note that the test fails on CI",
        'What does "always use tabs" mean?',
        "For example: always use tabs",
        "you don't have to remember that releases are on Tuesdays",
        "Write a TODO app with Next. Never use external libs.",
        "Implement the login form.\nAlways set the cookie to secure.",
        "use the red one instead of the blue one",
        'Add the text "Remember that parking is free" to the footer',
        "make the form remember that the user checked the box",
        "remember: TODO fix auth",
        "Remember to deploy tomorrow",
        "remember that",
        "",
    ],
)
def test_lures_are_not_learnt(prompt: str):
    assert learnt(prompt) == []


@each("run", [" ", "\t", "-", "- ", ". ", "ha "])
def test_a_line_that_is_drawn_or_aligned_is_not_read_and_those_around_it_are(run: str):
    drawn = f"remember that we deploy {run * 12}by hand"
    found = wishes(f"{drawn}\nremember that the API listens on port 8080")
    assert [wish.text for wish in found] == ["the API listens on port 8080"]
    assert len(wishes(drawn.replace(run * 12, ""))) == 1


def test_only_the_ends_of_a_long_paste_are_read():
    paste = "\n".join(
        ["see the report"] + ["some row of a report"] * 40 + ["Remember that reports run first"]
    )
    inside = "\n".join(["row"] * 30 + ["Remember that reports run first"] + ["row"] * 30)
    assert len(learnt(paste)) == 1
    assert learnt(inside) == []


@each(
    "words",
    [
        "my password is " + "sword" + "fish",
        "the api key is " + "a1B2" * 6,
        "use " + "ghp_" + "a1B2" * 9,
        "log in with " + "AKIA" + "ABCD1234" * 2,
        "use " + "sk-" + "a1B2" * 4,
        "send Authorization: Bearer " + "a1B2" * 4,
        "the key begins with -----BEGIN RSA PRIVATE" + " KEY-----",
        "the database is postgres://app:" + "pw" + "9@db/x",
    ],
)
def test_a_secret_is_left_out_and_told(words: str):
    (wish,) = wishes(f"remember that {words}")
    assert (wish.handling, wish.text, wish.quote) == ("secret", "", "")


@each(
    "words",
    [
        "the token is stored in the vault",
        "passwords are never logged",
        "use bearer authentication",
        "see docs/very_long_name_of_a_file_2.md",
    ],
)
def test_talk_about_secrets_is_none(words: str):
    assert not looks_secret(words)


def test_a_request_to_forget_is_seen_and_not_acted_on():
    assert [wish.handling for wish in wishes("forget that we use npm")] == ["forget"]


def test_a_request_whose_secret_was_cut_out_before_is_left_out_as_one_with_a_secret() -> None:
    found = wishes("please note for the future: the cotton poller wants [redacted: slack-token]")
    assert [wish.handling for wish in found] == ["secret"]
