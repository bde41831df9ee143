"""Where to listen."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from dreams.services.serving import web_server
from tests.world.cases import each


def test_a_port_that_is_taken_is_passed_over_when_none_was_given() -> None:
    with closing(web_server.listen("127.0.0.1", None, 20_000)) as first:
        taken = first.getsockname()[1]
        with closing(web_server.listen("127.0.0.1", None, taken)) as second:
            assert second.getsockname()[1] > taken


def test_a_given_port_that_is_taken_is_an_error_with_the_remedy() -> None:
    refused = pytest.raises(web_server.PortTaken, match=r"is already in use on 127\.0\.0\.1.*--port")
    with closing(web_server.listen("127.0.0.1", 0, 0)) as first, refused:
        web_server.listen("127.0.0.1", first.getsockname()[1], 0)


def test_a_port_is_free_again_at_once_after_its_server_ended() -> None:
    first = web_server.listen("127.0.0.1", 0, 0)
    number = first.getsockname()[1]
    client = socket.create_connection(("127.0.0.1", number))
    served, _ = first.accept()
    served.close()  # the server closes first: its end stays in TIME_WAIT
    client.close()
    first.close()
    web_server.listen("127.0.0.1", number, 0).close()


def test_an_address_of_another_machine_is_refused_by_name() -> None:
    with pytest.raises(web_server.CannotListen, match=r"192\.0\.2\.1"):
        web_server.listen("192.0.2.1", 0, 0)


@each(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        (".".join("0000"), False),
        ("::", False),
        ("192.168.1.5", False),
        ("no such host", False),
    ],
)
def test_only_loopback_addresses_need_no_password(host: str, loopback: bool) -> None:
    assert web_server.is_loopback(host) is loopback


@each(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8765"),
        ("::1", "http://[::1]:8765"),
        ("localhost", "http://localhost:8765"),
        ("::", "http://127.0.0.1:8765"),
    ],
)
def test_the_address_can_be_opened_in_a_browser(host: str, address: str) -> None:
    assert web_server.address(host, 8765) == address
