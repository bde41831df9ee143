"""Secrets are found in what is added and in what stands, told by rule and place, and redacted whole.

All of them are made up here from parts: no file may hold what looks like a live credential.
"""

from __future__ import annotations

import base64
import random
import string
from pathlib import Path
from unittest import mock

import pytest
import re2
from hypothesis import given, strategies as st

from dreams import findings
from dreams.findings import secrets
from dreams.lib.secrets.redact import redact, redact_all, redact_counted, values, without
from dreams.lib.secrets.spotting import spans
from tests.world.cases import each
from tests.world.findings import FILES, changed, codes, one, report
from tests.world.strategies import tries

ROOT = Path(__file__).parents[2]
BY_NAME = {"assigned-secret", "url-credentials", "bearer"}  # tests make some of these up in place
_chance = random.Random(7)  # noqa: S311 - what is made up must be the same in every run
WORD = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def some(length: int, letters: str = WORD) -> str:
    made = "".join(_chance.choice(letters) for _ in range(length - 3))
    return made + letters[1] + letters[-1] + letters[5]


FAKES = {
    "anthropic-key": "sk-" + "ant-api03-" + some(90),
    "openai-key": "sk-" + "proj-" + some(60),
    "aws-access-key": "AK" + "IA" + some(16, string.ascii_uppercase + "234567"),
    "github-token": "gh" + "p_" + some(36),
    "gitlab-token": "gl" + "pat-" + some(20),
    "slack-token": "xo" + "xb-" + some(12, string.digits) + "-" + some(24),
    "slack-webhook": "https://hooks." + "slack.com/services/T" + some(8) + "/B" + some(8) + "/" + some(24),
    "stripe-key": "sk_" + "live_" + some(24),
    "google-api-key": "AI" + "za" + some(35),
    "npm-token": "np" + "m_" + some(36),
    "pypi-token": "py" + "pi-AgEIcHlwaS5vcmc" + some(60),
    "sendgrid-key": "S" + "G." + some(22) + "." + some(43),
    "telegram-token": some(9, string.digits) + ":" + "AA" + some(33),
    "huggingface-token": "h" + "f_" + some(34),
    "digitalocean-token": "do" + "p_v1_" + some(64, HEX),
    "json-web-token": "ey" + "J" + some(20) + ".ey" + "J" + some(40) + "." + some(43),
    "private-key": "-----BEGIN " + "RSA PRIVATE KEY-----\n" + some(64) + "\n" + some(40) + "\n-----END " + "RSA PRIVATE KEY-----",
    "vault-token": "hv" + "s." + some(30),
    "nuget-key": "oy" + "2" + some(43, string.ascii_lowercase),
    "dynatrace-token": "dt0" + "c01." + some(24, string.ascii_uppercase) + "." + some(64, string.ascii_uppercase),
    "brevo-key": "xke" + "ysib-" + some(64, HEX) + "-" + some(16),
    "hubspot-token": "pa" + "t-na1-" + "-".join(some(n, HEX) for n in (8, 4, 4, 4, 12)),
    "netlify-token": "nf" + "p_" + some(40),
    "sonar-token": "sq" + "p_" + some(40, HEX),
    "nvidia-key": "nv" + "api-" + some(64),
    "openshift-token": "sha" + "256~" + some(43),
    "resend-key": "r" + "e_" + some(8) + "_" + some(24),
    "fly-token": "f" + "m2_" + some(100),
    "circleci-token": "CCI" + "PAT_" + some(22) + "_" + some(40, HEX),
    "google-refresh": "1/" + "/0" + some(60),
    "elevenlabs-key": "sk" + "_" + some(48, HEX),
    "pinecone-key": "pc" + "sk_" + some(6) + "_" + some(60),
    "langfuse-key": "sk-" + "lf-" + "-".join(some(n, HEX) for n in (8, 4, 4, 4, 12)),
    "azure-secret": some(3) + "8" + "Q~" + some(34),
    "asana-token": "1/" + some(16, string.digits) + ":" + some(32, HEX),
    "teams-webhook": "https://shop.webhook." + "office.com/webhookb2/" + some(80),
    "facebook-token": "EA" + "A" + some(120),
    "cloudflare-token": "cf" + "ut_" + some(48),
    "packagist-token": "packa" + "gist_uut_" + some(68, HEX),
    "cockroach-key": "CC" + "DB1_" + some(22) + "_" + some(40),
    "logfire-token": "py" + "lf_v1_us_" + some(43),
    "baidu-key": "bce-v3/" + "ALTAK-" + some(21) + "/" + some(40, HEX),
    "amp-key": "sg" + "amp_user_" + some(26, string.ascii_uppercase) + "_" + some(64, HEX),
    "cursor-key": "cr" + "sr_" + some(64, HEX),
    "gemini-key": "A" + "Q.Ab8RN6" + some(44),
    "matrix-token": "sy" + "t_" + some(8) + "_" + some(20) + "_" + some(6),
    "age-key": "AGE-" + "SECRET-KEY-1" + some(58, string.ascii_uppercase + string.digits),
}  # fmt: skip


@each("rule", FAKES)
def test_a_vendors_key_is_known_by_its_form(rule):
    text = f"- The key is {FAKES[rule]} for now"
    (span,) = spans(text)
    assert span.rule == rule
    assert text[span.start : span.end] == FAKES[rule]


@each(
    "line",
    [
        "export DB_PASSWORD={}",
        'api_key: "{}"',
        "- **Token**: `{}`",
        "the admin password is {}",
        "client_secret => '{}'",
        "AUTH_TOKEN_PROD={}",
        '{{\\"secret\\": \\"{}\\"}}',
        "Authorization: Bearer {}",
        "curl -H 'authorization: token {}'",
        "postgres://shop:{}@db.internal:5432/shop",
        "| API key | {} |",
        'define("AUTH_KEY", "{}");',
        "das Passwort ist {}",
        "密码：{}",
        "curl -u admin:{} https://shop.test",
        'secret_key_base: "{}"',
        "sshpass -p {} ssh web1",
        "machine shop.test login ana password {}",
        "<password>{}</password>",
        '<add key="ApiSecret" value="{}"/>',
        "CREATE USER ana IDENTIFIED BY '{}';",
        "gh auth login --with-token {}",
        "aws configure set aws_secret_access_key {}",
        "setx SHOP_TOKEN {}",
        "requirepass {}",
        "WIFI:S:Shop;T:WPA;P:{};;",
        "Office wifi: Shop / {}",
        "Log in to staging as admin with {}",
        "The deploy token ({}) goes into CI",
        "Hasło do serwera to {}",
        "Le mot de passe du serveur est {}",
        'const API_TOKEN: &str = "{}";',
        "GET https://shop.test/v1?api_key={}",
        "https://hooks.shop.test/in/{}",
        "jdbc:oracle:thin:scott/{}@//db:1521/shop",
        "BILLING_KEY={}",
        "curl -H 'X-API-Key: {}'",
        "the token for billing is {}",
        "the webhook secret {} must be set",
        "log in as ana with {} as the password",
        "das Kennwort lautet {}",
        "Der API-Schlüssel lautet {}",
        "el token de acceso es {}",
        "The root passphrase is: {}",
        "mc alias set local http://shop.test:9000 SHOPKEY {}",
        "xfreerdp /v:shop.test /u:ana /p:{}",
        "smbclient //shop/files -U ana%{}",
        "echo '{}' | sudo -S true",
        "svn co https://shop.test --username ana --password {}",
        "Use {} to log in to the dashboard",
        "curl -s https://shop.test/orders \\\n  -H 'Accept: text/csv' \\\n  -u ana:{}",
        'curl --header "Shop-Token: {}" https://shop.test',
    ],
)
def test_an_assigned_secret_is_found_by_its_name(line):
    secret = "q4Z" + some(20) + "8w"
    found = [line.format(secret)[s.start : s.end] for s in spans(line.format(secret))]
    assert found == [secret]


def test_a_password_that_looks_like_a_setting_is_found():
    secret = "TIGER" + "7=" + "LION"
    line = f"login {secret}"
    assert [line[s.start : s.end] for s in spans(line)] == [secret]


def test_a_password_of_letters_alone_is_found_where_their_case_is_by_chance():
    secret = "".join(some(1, letters) for letters in 6 * [string.ascii_uppercase, string.ascii_lowercase])
    line = "curl -u deploy:{} https://ci.test".replace("{}", secret)
    assert [line[s.start : s.end] for s in spans(line)] == [secret]
    assert not spans("password: passwordConfirmationField")


def test_a_short_password_is_found_too():
    text = "login is admin, password: " + "hun" + "ter2!x"
    assert [s.rule for s in spans(text)] == ["assigned-secret"]


def test_a_short_key_is_found_where_a_sentence_calls_it_one():
    secret = "q4Z" + some(11) + "8w"
    for text in (f"- The API key for billing is {secret}", f"You can find a billing secret {secret} within"):
        assert [text[s.start : s.end] for s in spans(text)] == [secret]


def test_a_login_in_base64_is_known_by_what_it_says():
    header = "Authorization: " + "Basic " + base64.b64encode(b"ana:" + b"x9").decode()
    assert [s.rule for s in spans(header)] == ["bearer"]
    assert not spans("Authorization: " + "Basic " + base64.b64encode(b"only words").decode())


@each(
    "line",
    [
        "export TOKEN=$TOKEN",
        "apiKey: process.env.SHOP_API_KEY2",
        "password: os.environ['DB_PASSWORD']",
        "set GITHUB_TOKEN to <your-token-1234>",
        "api_key = xxxxxxxxxxxxxxxxxxxx",
        "token: ****************",
        "AWS key AKIA" + "IOSFODNN7EXAMPLE",
        "sk-" + "ant-api03-your-key-here-please-1234567890",
        "password: ${{ secrets.DB_PASSWORD_2 }}",
        "secret: vault:kv/data/shop2#password",
        "- Token: `C:/Users/Dev/.shop/mail-inbox/token_harbour444.json` (renewed by itself)",
        "- Token: `D:\\Shop\\Mail-Inbox\\token_harbour444.json`",
        "max_tokens: 200000",
        "integrity sha512-" + "Zm9v" * 21 + "Zg==",
        "token: sha256:" + "0f1e2d3c" * 8,
        "secret: projects/123456/secrets/db-password/versions/latest",
        "secret = base64.b64decode(value)",
        "postgres://postgres:postgres@localhost:5432/app",
        "token: string",
        "the token is required for every request",
        "password = config.database.password2",
        "postgres://user:$PASSWORD@localhost/shop",
        "postgres://user:<password>@localhost/shop",
        "the secret is stored in 1Password",
        "token_type: refresh_token",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "session 7c9e6679-7425-40de-944b-e07fc1f90ae7",
        "Bearer authentication-with-refresh-tokens-is-used-here",
        "see sk-learn and basic HTML5 elements",
        "secret: projects/x/secrets/y/versions/3",
        "signing_key: keys/release-2024.asc",
        "password: !vault |",
        "password: test1234",
        "the users of the browser tests have the fixed pw `E2e!Passw0rd`",
        "| `QRST_3_41_00_US4.bin` | 192 KB | `d8 00 ff ff` | CRC32=0xABCDE12F |",
        "| `EUR.*_md5.txt` | 73 B | MD5 of the archive |",
        "| **$10K–$25K/yr** | the head of the yard decides | two weeks |",
        "a token is 256-bit-random, Token ist 128-Bit-Zufall",
        "SECRET_KEY=replace-me-with-32-chars",
        "nix hash sha256-" + some(43) + "=",
        "CLIENT_ID=" + some(32),
        "SENTRY_DSN=https://" + some(32, HEX) + "@o123456.ingest.sentry.io/1234567",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + some(43) + " ana@host",
        "page https://notes.test/p-" + some(32, HEX),
        "a false alarm in the tests of a library: slack " + "xo" + "xb-test-token",
        "pass: 12 tests, fail: 3",
        "mysql -u root -p",
        "tokens per minute: 90000",
        "use argon2id as the password hash and OAuth2Client for the login",
        "the password policy asks for 12 characters",
        "the token for billing is rotated every 30d",
        "CACHE_KEY=" + some(32),
        "uuid: 7c9e6679-7425-40de-944b-e07fc1f90ae7 is the session's token store",
        "vercel deploy --token $VERCEL_TOKEN_2",
        "git push https://ana:token@git.shop.test/shop.git",
        "<password>${env.DB_PASSWORD_2}</password>",
        "GET /v1?api_key=YOUR_KEY_GOES_HERE_2026",
        "docker run -p 8080:8080 -w /workspace2 shop",
        "test_that_every_order_has_a_row_of_its_own_2",
        "the secret is to warm the cache 2x first",
        "| C++17 | 8.3.1-beta2 | x86_64-linux-gnu | p99=120ms |",
        "echo 'v1.2.3-rc4' | sudo tee /etc/shop-version2",
        "curl -u test:test https://shop.test, or curl -u $NAME:$WORD, or curl -u <name:password>",
        'curl -H "Authorization: Basic $(cat login.txt)" -H "Shop-Token: $SHOP_TOKEN_2"',
        "the API key for billing is in 1Password; the secret is kept 90 days, its key is orders_2026_eu",
        "`mail/memo-pa-to-dispatch-haiku3-response-2026-04-09.md` and mail/pa-to-dispatch-comms-protocol-2026-04-09-final.md",
        "git push https://x-access-token:TOKEN@github.test/shop.git shows it in err.message",
        "AccessDenied: User is not authorized to perform: s3:PutObject on resource x, the password is elsewhere",
        "fee drag by pass 1.55%@$100k/0.62%@$250k/0.15%@$1M, then it is ideal",
        "Password checks: R01=PASS, R02=FAIL; log in with R01=PASS",
        "login ana@shop.test2 sends a mail; use Python3.12 to log in",
        "bb_test_runner_configuration_options and secret-test-data-generator-for-the-integration are folders",
        'constants with "password" in name: `#pragma warning disable S2068` — not credentials',
    ],
)
def test_placeholders_references_and_prose_are_none(line):
    assert [line[s.start : s.end] for s in spans(line)] == []


def test_a_secret_with_slashes_is_no_path():
    secret = "aB3x/" + some(14) + "/Qw7" + some(16)
    assert [s.rule for s in spans(f"aws_secret_access_key = {secret}")] == ["assigned-secret"]


@pytest.mark.more
def test_no_file_of_the_project_holds_what_looks_like_a_vendors_key():
    found = []
    for folder in ("bench", "docs", "dreams", "memoryweb", "static", "templates", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".md", ".html", ".js", ".css", ".toml", ".json"} and path.is_file():
                text = path.read_text(encoding="utf-8")
                found += [(path.name, s.rule) for s in spans(text) if s.rule not in BY_NAME]
    assert found == []


def test_an_added_secret_blocks_and_its_message_does_not_hold_it():
    secret = FAKES["github-token"]
    found = report(changed("deploy.md", "make ship", f"make ship with {secret}"))
    block = one(found, "secret-github-token")
    assert (block.severity, block.path, block.line_no) == ("block", "deploy.md", 8)
    assert block.hunk_id
    assert not [f for f in found.findings if f.check == "secrets" and secret in f"{f}"]


def test_an_old_secret_is_a_warning_and_names_its_redaction():
    before = {**FILES, "keys.md": f"---\ntype: reference\n---\nkey {FAKES['npm-token']}\n".encode()}
    after = {**before, "deploy.md": FILES["deploy.md"] + b"\nMore.\n"}
    warned = one(report(after, before), "standing-secret-npm-token")
    assert (warned.severity, warned.path, warned.line_no) == ("warn", "keys.md", 4)
    assert "edact" in warned.remedy
    assert "standing-secret-npm-token" in codes(findings.health(before))


def test_a_key_block_over_several_lines_is_one_finding_in_its_hunk():
    found = report(changed("deploy.md", "**Why:**", FAKES["private-key"] + "\n\n**Why:**"))
    assert one(found, "secret-private-key").severity == "block"


def test_another_secret_in_the_same_hunk_is_another_finding():
    one_key, other = FAKES["npm-token"], "np" + "m_" + some(36)
    keys = {
        one(report(changed("deploy.md", "make ship", k)), "secret-npm-token").about for k in (one_key, other)
    }
    assert len(keys) == 2


def test_the_fingerprint_depends_on_the_hosts_key():
    secrets.use_key(b"one")
    mine = secrets.fingerprint("hidden")
    assert mine == secrets.fingerprint("hidden")
    secrets.use_key(b"other")
    assert mine != secrets.fingerprint("hidden")


@each("size", [1, 2, 7, 16, 40])
def test_many_texts_are_redacted_together_as_each_by_itself(size):
    plain = [
        "Hello",
        "",
        "Use tabs,\nnever spaces",
        "the token is in the vault",
        "\ud800 half a pair",
        "key =",
    ]
    secret = [*FAKES.values(), "DB_PASSWORD=" + some(20), "set it: " + "gh" + "p_" + some(36)]
    texts = [text for fake in secret for text in (*_chance.sample(plain, 5), fake)]
    for at in range(0, len(texts), size):
        some_of_them = texts[at : at + size]
        assert redact_all(some_of_them) == [redact(text) for text in some_of_them]
    assert sum(text != clean for text, clean in zip(texts, redact_all(texts), strict=True)) == len(secret)
    assert redact_all([]) == []


@each("mark", ["", "**", "`", "***"])
def test_a_key_in_bold_is_known_by_its_form_and_the_marks_around_a_secret_stay(mark):
    for before, behind in (("| Bot | ", " |"), ("- API key: ", ", kept"), ("The token is ", ".")):
        text = f"{before}{mark}{FAKES['telegram-token']}{mark}{behind}"
        assert redact(text) == f"{before}{mark}[redacted: telegram-token]{mark}{behind}"
    password = "hun" + "ter2!x"
    assert (
        redact(f"- Password: {mark}{password}{mark}")
        == f"- Password: {mark}[redacted: assigned-secret]{mark}"
    )
    assert redact(f"APP_KEY={mark}{some(40)}{mark}") == f"APP_KEY={mark}[redacted: assigned-secret]{mark}"


def test_redaction_takes_the_secret_and_nothing_else():
    text = f"- key: {FAKES['stripe-key']}, kept; password: {'hun' + 'ter2!x'}."
    redacted, counts = redact_counted(text)
    assert redacted == "- key: [redacted: stripe-key], kept; password: [redacted: assigned-secret]."
    assert counts == {"stripe-key": 1, "assigned-secret": 1}
    assert redact(redacted) == redacted


@tries(20, 60)
@given(st.text(max_size=60), st.sampled_from(sorted(FAKES)), st.text(max_size=60))
def test_no_text_around_a_secret_keeps_it_from_being_redacted(before, rule, behind):
    text = f"{before} {FAKES[rule]} {behind}"
    assert FAKES[rule] not in redact(text)


@tries(30, 100)
@given(st.text())
def test_any_text_can_be_redacted_and_ends_at_a_fixed_point(text):
    once = redact(text)
    assert redact(once) == once


KEY_LINES = [some(64) for _ in range(4)]


def key_block(before: str = "", header: str = "") -> str:
    """A key as people paste it: behind quote marks or a list's dashes, with the headers of one that has a password."""
    lines = [
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        *header.splitlines(),
        *KEY_LINES,
        "-----END " + "RSA PRIVATE KEY-----",
    ]
    return "\n".join(before + line for line in lines)


@each(
    "block",
    [
        key_block(),
        key_block("> "),
        key_block("- "),
        key_block("    "),
        key_block(header="Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0123456789ABCDEF\n"),
        key_block(header="Proc-Type: 4,ENCRYPTED\n\n"),
        f"```\n{key_block()}\n```",
    ],
)
def test_no_finding_and_no_redacted_text_has_a_line_of_a_key_block(block: str) -> None:
    files = changed("deploy.md", "**Why:**", f"{block}\n\n**Why:**")
    added, taken_away = report(files), report(FILES, files)
    assert one(added, "secret-private-key").severity == "block"
    told = [f"{each.message} {each.message_parts}" for each in (*added.findings, *taken_away.findings)]
    assert not [line for line in KEY_LINES for text in (*told, redact(block)) if line[:20] in text]
    text = files["deploy.md"].decode()
    redacted = report({**files, "deploy.md": without(text, values(text)).encode()}, files)
    assert not [each.message for each in redacted.findings if each.blocks]
    assert redact(f"{block}\n- the port is 8080").endswith("- the port is 8080")


def test_what_follows_a_key_without_its_end_is_no_part_of_it() -> None:
    cut = key_block().rpartition("\n")[0]
    assert redact(f"{cut}\n\nThe port is 8080.") == "[redacted: private-key]\n\nThe port is 8080."


def test_the_name_of_a_key_block_and_one_with_a_placeholder_are_no_secret() -> None:
    mark = "-----BEGIN " + "PRIVATE KEY-----"
    assert not spans(f"Look for {mark} in the logs.")
    assert not spans(f"{mark}\n<the key from the vault>\n{mark.replace('BEGIN', 'END')}")


def test_a_long_text_is_encoded_once_and_not_for_each_pattern() -> None:
    text = (
        "Passwörter — password, token, secret, api_key, Bearer: im Tresor.\n" * 2_000
        + f"“{FAKES['github-token']}”\n"
    )
    spans(text)
    with mock.patch.object(re2, "_encode", wraps=re2._encode) as encoded:
        (found,) = spans(text)
    assert text[found.start : found.end] == FAKES["github-token"]
    assert encoded.call_count <= 3


@each(("line", "is_hidden"), [
    ("- Vendor: ana@example.org / Fcn@v" + "end44 (paid)", True),
    ("- Vendor: ana@example.org : Fcn@v" + "end44", True),
    ("- Ana: ana@example.org / 555-1234", False),
    ("- Ana: ana@example.org / @anaB2024, PR#12a", False),
    ("- clone git@example.org:Acme2/My_repo3.git", False),
    ("- Stripe account: `acct_1A9bC3dE5fG7hJ2k` (example.org)", False),  # ids of Stripe and of tool calls
    ('{"role":"user","content":[{"tool_use_id":"toolu_01A9bC3dE5fG7hJ2kL4mN6pQ"}]}', False),
])  # fmt: skip
def test_a_password_beside_an_address_is_hidden_without_a_word_that_says_so(
    line: str, is_hidden: bool
) -> None:
    assert ("told-password" in redact(line)) is is_hidden
