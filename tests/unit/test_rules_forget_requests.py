"""Which sentences ask to forget something, and which only sound like it."""

from dreams.engines.rules.user_statements.requests import asks_to_forget, may_ask_to_forget
from tests.world.cases import each


@each(
    "said",
    [
        "The relay listens on port 8080 - forget that, it's not true any more",
        "forget: ledger-worker",
        "you can forget ledger-worker",
        "Kindly forget 41873 in connection with `ledger-worker`.",
        "Please unlearn ledger-worker: 41873",
        "Scrap what you noted on ledger-worker",
        "Memory cleanup: please drop ledger-worker (41873)",
        "I would like you to forget everything about ledger-worker.",
        "Please don't keep 41873 in mind for ledger-worker, that is history.",
    ],
)
def test_a_request_to_forget(said: str) -> None:
    assert asks_to_forget(said)


@each(
    "said",
    [
        "don't forget to bump the version",
        "I forget which port it was",
        "we never forget the changelog",
        "did you forget the tests?",
        "keep a list of the workers in case you forget ledger-worker again",
        "I don't want you to forget or lose our work on ledger-worker",
        "do not allow the agent to forget the rules of ledger-worker",
        "those are git repos, i dont remember what they do",
        "implement what is missing, ont forget the limit of ledger-worker",
        "he said forget about ledger-worker",
        "delete the unused imports",
        "remove the memory leak in the worker",
        "add a forget-password page",
        "forget my last message",
        "do not delete the memory that says 41873 for ledger-worker",
        "never remove ledger-worker from memory",
        'write a test for "forget ledger-worker"',
    ],
)
def test_what_only_sounds_like_it(said: str) -> None:
    assert not asks_to_forget(said)


def test_a_note_or_an_entry_may_be_one_of_memory() -> None:
    assert may_ask_to_forget("Please delete the entry for ledger-worker")
    assert not may_ask_to_forget("Please delete the build folder")
    assert not may_ask_to_forget("the tide check in line 81 is too strict, remove that")
