"""What goes out holds no secret, and what only looks like one stays (§03, WIRE §9).

Every secret is put together here at run time from a seed: nothing in this file is one, or looks like one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
import string
import time
import uuid

import pytest

from protoyard import clean, clean_text, redact

HIDDEN = "[redacted]"
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "-_"
HEX = "0123456789abcdef"
_RANDOM = random.Random("redaction")


def some(length: int, alphabet: str = ALNUM) -> str:
    """Random characters, of which the first three say upper, lower and digit where the alphabet has them."""
    sure = [
        next((c for c in alphabet if c in kind), alphabet[0])
        for kind in ("Q" + string.ascii_uppercase, "k" + string.ascii_lowercase, "7" + string.digits)
    ]
    rest = [_RANDOM.choice(alphabet) for _ in range(length - len(sure))]
    rest[:0] = sure
    return "".join(rest)


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def jwt() -> str:
    parts = [json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps({"sub": some(12), "iat": 1})]
    return (
        ".".join(base64.urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in parts)
        + "."
        + some(43, URLSAFE)
    )


def pem(label: str, lines: int = 6, newline: str = "\n", end: bool = True) -> str:
    body = (
        newline.join(b64(_RANDOM.randbytes(48)) for _ in range(lines - 1))
        + newline
        + b64(_RANDOM.randbytes(20))
    )
    dashes = "-" * 5
    closing = f"{newline}{dashes}END {label}{dashes}" if end else ""
    return f"{dashes}BEGIN {label}{dashes}{newline}{body}{closing}"


PRIVATE = "PRIVATE KEY"

# A sentence, the token. Each is also put into prose, a URL path, JSON text, other scripts, names and lists.
TOKENS = [
    ("an age key", "AGE-SECRET-" + "KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")),
    ("a JWT", jwt()),
    ("an AWS key id", "AK" + "IA" + some(16, string.ascii_uppercase + "234567")),
    ("a temporary AWS key id", "AS" + "IA" + some(16, string.ascii_uppercase + "234567")),
    ("a Google API key", "AI" + "za" + "Sy" + some(33, URLSAFE)),
    ("a Google access token", "ya" + "29." + "a0" + some(120, URLSAFE)),
    ("a Google client secret", "GOC" + "SPX-" + some(28, URLSAFE)),
    ("a Google refresh token", "1/" + "/0" + some(60, URLSAFE)),
    ("a GitHub personal token", "gh" + "p_" + some(36)),
    ("a GitHub OAuth token", "gh" + "o_" + some(36)),
    ("a GitHub user token", "gh" + "u_" + some(36)),
    ("a GitHub server token", "gh" + "s_" + some(36)),
    ("a GitHub refresh token", "gh" + "r_" + some(76)),
    ("a GitHub token of letters only", "gh" + "p_" + some(36, string.ascii_lowercase)),
    ("a longer GitHub token than today's", "gh" + "p_" + some(120)),
    ("a GitHub token with a JWT inside", "gh" + "s_" + "1234567_" + jwt()),
    ("a fine-grained GitHub token", "github" + "_pat_" + some(22) + "_" + some(59)),
    ("a GitLab personal token", "gl" + "pat-" + some(20, URLSAFE)),
    (
        "a routable GitLab token",
        "gl" + "pat-" + some(27, URLSAFE) + ".01." + some(9, string.ascii_lowercase + string.digits),
    ),
    ("a GitLab runner token", "gl" + "rt-" + some(20, URLSAFE)),
    ("a GitLab deploy token", "gl" + "dt-" + some(20, URLSAFE)),
    ("a GitLab registration token", "GR134" + "8941" + some(20, URLSAFE)),
    (
        "a Slack bot token",
        "xo" + "xb-" + some(12, string.digits) + "-" + some(13, string.digits) + "-" + some(24),
    ),
    ("a Slack user token", "xo" + "xp-" + some(12, string.digits) + "-" + some(32, HEX)),
    (
        "a Slack app token",
        "xa" + "pp-1-" + "A" + some(10) + "-" + some(13, string.digits) + "-" + some(64, HEX),
    ),
    ("a rotating Slack token", "xo" + "xe.xo" + "xp-1-" + some(160)),
    ("a Stripe secret key", "sk" + "_live_" + some(24)),
    ("a Stripe test key", "sk" + "_test_" + some(99)),
    ("a restricted Stripe key", "rk" + "_live_" + some(24)),
    ("a Stripe hook secret", "wh" + "sec_" + some(32)),
    ("an npm token", "np" + "m_" + some(36)),
    ("a PyPI token", "py" + "pi-" + "AgEIcHlwaS5vcmc" + some(150, URLSAFE)),
    ("an OpenAI key", "s" + "k-" + some(48)),
    ("an OpenAI project key", "s" + "k-proj-" + some(156, URLSAFE)),
    ("an OpenAI service key", "s" + "k-svcacct-" + some(100, URLSAFE)),
    ("an Anthropic key", "s" + "k-ant-api03-" + some(93, URLSAFE) + "AA"),
    ("an Anthropic admin key", "s" + "k-ant-admin01-" + some(93, URLSAFE) + "AA"),
    ("a hex key with the short prefix", "s" + "k-" + some(32, HEX)),
    ("a Hugging Face token", "h" + "f_" + some(34, string.ascii_letters)),
    ("a SendGrid key", "S" + "G." + some(22, URLSAFE) + "." + some(43, URLSAFE)),
    ("a Twilio key", "S" + "K" + some(32, HEX)),
    ("a DigitalOcean token", "do" + "p_v1_" + some(64, HEX)),
    ("a DigitalOcean refresh token", "do" + "r_v1_" + some(64, HEX)),
    ("a Linear key", "lin" + "_api_" + some(40)),
    ("a Linear OAuth token", "lin" + "_oauth_" + some(64, HEX)),
    ("a Notion token", "nt" + "n_" + some(46)),
    ("an older Notion token", "sec" + "ret_" + some(43)),
    ("a Databricks token", "da" + "pi" + some(32, HEX)),
    ("a numbered Databricks token", "da" + "pi" + some(32, HEX) + "-2"),
    ("a Vault token", "hv" + "s." + some(90, URLSAFE)),
    ("a Vault batch token", "hv" + "b." + some(140, URLSAFE)),
    ("a Figma token", "fig" + "d_" + some(40, URLSAFE)),
    ("a Grafana service token", "gl" + "sa_" + some(32) + "_" + some(8, HEX)),
    (
        "a Grafana cloud token",
        "gl" + "c_" + b64(json.dumps({"o": some(6), "n": some(20), "k": some(24)}).encode()),
    ),
    (
        "an older Grafana key",
        b64(json.dumps({"k": some(32), "n": "x", "id": 1}, separators=(",", ":")).encode()),
    ),
    ("a Groq key", "gs" + "k_" + some(52)),
    ("an xAI key", "xa" + "i-" + some(80)),
    ("a Replicate token", "r" + "8_" + some(37)),
    ("a Shopify admin token", "sh" + "pat_" + some(32, HEX)),
    ("a Shopify app secret", "sh" + "pss_" + some(32, HEX)),
    ("a Supabase token", "sb" + "p_" + some(40, HEX)),
    ("a Supabase secret key", "sb_" + "secret_" + some(31, URLSAFE)),
]

BASE64_TOKENS = ("wh" + "sec_", "gl" + "c_", "eyJr")  # a slash may be one of their characters
BASIC = b64(f"anna:{some(14)}".encode())

# A sentence, the text, the secret in it, what is left of the text.
FORMS = [
    ("a PKCS 8 key", pem(PRIVATE), HIDDEN),
    (
        "an RSA key in prose",
        "here:\n" + pem("RSA " + PRIVATE) + "\nthat was it",
        f"here:\n{HIDDEN}\nthat was it",
    ),
    (
        "an encrypted key with headers",
        pem("RSA " + PRIVATE).replace(
            "-----\n", "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n", 1
        ),
        HIDDEN,
    ),
    ("an OpenSSH key", "a " + pem("OPENSSH " + PRIVATE) + " b", f"a {HIDDEN} b"),
    (
        "an EC key with escaped newlines",
        '{"k":"' + pem("EC " + PRIVATE, newline="\\n") + '"}',
        '{"k":"' + HIDDEN + '"}',
    ),
    ("a key with CRLF", pem(PRIVATE, newline="\r\n"), HIDDEN),
    ("an indented key", "key: |\n  " + pem(PRIVATE, newline="\n  "), f"key: |\n  {HIDDEN}"),
    ("a key on one line", pem(PRIVATE, newline=" "), HIDDEN),
    ("a PGP key", pem("PGP " + PRIVATE + " BLOCK").replace("-----\n", "-----\nVersion: 1\n\n", 1), HIDDEN),
    ("a key that is cut off", "log: " + pem(PRIVATE, end=False), f"log: {HIDDEN}"),
    ("a key cut off in its first line", pem(PRIVATE, end=False)[:40], HIDDEN),
    ("a short key", pem(PRIVATE)[:31] + "\nMIIB\nabc=\n" + pem(PRIVATE)[-25:], HIDDEN),
    ("a key on the line of its marker", pem(PRIVATE).replace("-----\n", "-----", 1), HIDDEN),
    ("two keys", pem(PRIVATE) + "\n" + pem("RSA " + PRIVATE), f"{HIDDEN}\n{HIDDEN}"),
    ("a bearer credential", "Authorization: Bearer " + some(40, URLSAFE), f"Authorization: Bearer {HIDDEN}"),
    (
        "a lower-case bearer credential",
        "curl -H 'authorization: bearer " + some(24) + "' x",
        f"curl -H 'authorization: bearer {HIDDEN}' x",
    ),
    (
        "a bearer credential at a sentence's end",
        "it sent Bearer " + some(30) + ".",
        f"it sent Bearer {HIDDEN}.",
    ),
    ("a short bearer credential", "Bearer " + "abc" + "123", f"Bearer {HIDDEN}"),
    ("a basic credential", "Authorization: Basic " + BASIC, f"Authorization: Basic {HIDDEN}"),
    (
        "a credential of another scheme",
        "Authorization: Token " + some(40, HEX),
        f"Authorization: Token {HIDDEN}",
    ),
    (
        "the password in a URL",
        f"postgres://app:{some(12)}@db.example.com/x",
        f"postgres://app:{HIDDEN}@db.example.com/x",
    ),
    (
        "a password without a user",
        f"redis://:{some(12)}@localhost:6379/0",
        f"redis://:{HIDDEN}@localhost:6379/0",
    ),
    (
        "a password with an @",
        f"amqp://u:{some(6)}@{some(5)}@mq.example.com",
        f"amqp://u:{HIDDEN}@mq.example.com",
    ),
    (
        "a password of digits in a URL",
        "https://u:" + "135790" + "@example.com",
        f"https://u:{HIDDEN}@example.com",
    ),
    (
        "an AWS signature",
        "https://b.example.com/k?X-Amz-Signature=" + some(64, HEX) + "&X-Amz-Date=1",
        f"https://b.example.com/k?X-Amz-Signature={HIDDEN}&X-Amz-Date=1",
    ),
    (
        "an AWS header",
        "AWS4-HMAC-SHA256 SignedHeaders=host, Signature=" + some(64, HEX),
        f"AWS4-HMAC-SHA256 SignedHeaders=host, Signature={HIDDEN}",
    ),
    (
        "an AWS key beside its id",
        "AK" + "IA" + some(16, "ABCD2345") + "," + some(39, ALNUM + "/+") + "x",
        f"{HIDDEN},{HIDDEN}",
    ),
    (
        "an Azure SAS",
        "https://a.example.com/c?sv=2022-11-02&sp=r&sig=" + some(43) + "%3D",
        f"https://a.example.com/c?sv=2022-11-02&sp=r&sig={HIDDEN}",
    ),
    (
        "an Azure account key",
        "AccountName=a;AccountKey=" + b64(bytes(range(7, 71))) + ";EndpointSuffix=x",
        f"AccountName=a;AccountKey={HIDDEN};EndpointSuffix=x",
    ),
    (
        "a Slack hook",
        "https://hooks." + "slack.com/services/T" + some(8) + "/B" + some(8) + "/" + some(24),
        "https://hooks." + f"slack.com/services/{HIDDEN}",
    ),
    (
        "a Slack workflow hook",
        "https://hooks."
        + "slack.com/triggers/E"
        + some(8)
        + "/"
        + some(13, string.digits)
        + "/"
        + some(32, HEX)
        + " ok",
        "https://hooks." + f"slack.com/triggers/{HIDDEN} ok",
    ),
    ("a Telegram token", "110201543:AA" + some(33, URLSAFE), f"110201543:{HIDDEN}"),
    (
        "a Telegram URL",
        "https://t.example.com/bot110201543:AA" + some(33, URLSAFE) + "/getMe",
        f"https://t.example.com/bot110201543:{HIDDEN}/getMe",
    ),
    ("a cookie header", f"Cookie: sid={some(20)}; theme=dark", f"Cookie: {HIDDEN}"),
    ("a cookie that is set", f"Set-Cookie: sid={some(20)}; Path=/; HttpOnly", f"Set-Cookie: {HIDDEN}"),
]

PW = "hunter" + "Two2"
PHRASE = "correct horse battery"

ASSIGNMENTS = [
    ("an environment line", f"DB_PASSWORD={PW}", f"DB_PASSWORD={HIDDEN}"),
    ("an export", f"export API_KEY={PW} && run", f"export API_KEY={HIDDEN} && run"),
    ("a plain word after =", "password=swordfish", f"password={HIDDEN}"),
    ("spaces around =", "password = swordfish", f"password = {HIDDEN}"),
    ("a quoted value with blanks", f'password = "{PHRASE}"', f'password = "{HIDDEN}"'),
    ("single quotes", f"'secret': '{PHRASE}'", f"'secret': '{HIDDEN}'"),
    ("backticks", f"password: `{PHRASE}`", f"password: `{HIDDEN}`"),
    ("JSON text", f'{{"apiKey":"{PW}","name":"x"}}', f'{{"apiKey":"{HIDDEN}","name":"x"}}'),
    (
        "JSON inside JSON",
        f'{{\\"apiKey\\":\\"{PW}\\",\\"name\\":\\"x\\"}}',
        f'{{\\"apiKey\\":\\"{HIDDEN}\\",\\"name\\":\\"x\\"}}',
    ),
    ("an escaped quote in the value", f'"password":"{PW}\\"{PW}","a":1', f'"password":"{HIDDEN}","a":1'),
    ("Go", f'token := "{PHRASE}"', f'token := "{HIDDEN}"'),
    ("Go without quotes", "token := swordfish", f"token := {HIDDEN}"),
    ("a Ruby hash", f':password => "{PHRASE}",', f':password => "{HIDDEN}",'),
    ("a Ruby hash without quotes", "password => swordfish", f"password => {HIDDEN}"),
    ("YAML", f"password: {PW}", f"password: {HIDDEN}"),
    ("a colon and a symbol", "password: sword#fish", f"password: {HIDDEN}"),
    ("a colon and an inner capital", "password: swordFish", f"password: {HIDDEN}"),
    ("a colon and a digit", "Password: swordfish9", f"Password: {HIDDEN}"),
    ("a colon and a plain quoted word", 'token: "swordfish"', f'token: "{HIDDEN}"'),
    ("a name with blanks", f"API key: {PW}", f"API key: {HIDDEN}"),
    ("a header", f"X-Api-Key: {PW}", f"X-Api-Key: {HIDDEN}"),
    ("a number at the name's end", f"PASSWORD_2={PW}", f"PASSWORD_2={HIDDEN}"),
    (
        "a query",
        f"https://example.com/?access_token={PW}&page=2",
        f"https://example.com/?access_token={HIDDEN}&page=2",
    ),
    (
        "a connection string",
        f"Server=s;User=u;Password={PW};Database=d",
        f"Server=s;User=u;Password={HIDDEN};Database=d",
    ),
    ("a key-value string", f"host=h password={PW} user=u", f"host=h password={HIDDEN} user=u"),
    ("a list of pairs", f"user=u,password={PW},port=1", f"user=u,password={HIDDEN},port=1"),
    ("an option", f"run --password={PW} --now", f"run --password={HIDDEN} --now"),
    ("signs inside a value", "PASSWORD=a1,b2;c3&d4)e5", f"PASSWORD={HIDDEN}"),
    ("a Python annotation", f'password: str = "{PHRASE}"', f'password: str = "{HIDDEN}"'),
    ("a TypeScript annotation", f"const token: string = '{PHRASE}';", f"const token: string = '{HIDDEN}';"),
    ("an item", f'headers["X-Api-Key"] = "{PHRASE}"', f'headers["X-Api-Key"] = "{HIDDEN}"'),
    ("a bytes literal", f"secret = b'{PHRASE}'", f"secret = b'{HIDDEN}'"),
    ("triple quotes", f'secret = """{PHRASE}"""', f'secret = """{HIDDEN}"""'),
    ("a default", f'token ||= "{PHRASE}"', f'token ||= "{HIDDEN}"'),
    ("bold text", f"**Password:** {PW}", f"**Password:** {HIDDEN}"),
    ("a quoted value that is cut off", f'"password": "{PHRASE}', f'"password": "{HIDDEN}'),
    (
        "AWS's configuration",
        "aws_secret_access_key = " + some(40, ALNUM + "/+"),
        f"aws_secret_access_key = {HIDDEN}",
    ),
    (
        "an npm configuration",
        "//r.example.com/:_authToken=" + str(uuid.UUID(int=7**40)),
        f"//r.example.com/:_authToken={HIDDEN}",
    ),
    ("hex digits", "APP_SECRET=" + some(64, HEX), f"APP_SECRET={HIDDEN}"),
    ("a Django setting", f"SECRET_KEY = '{some(50, ALNUM + '!@#$%^&*(-_=+)')}'", f"SECRET_KEY = '{HIDDEN}'"),
    ("a Rails setting", "secret_key_base: " + some(64, HEX), f"secret_key_base: {HIDDEN}"),
    ("a default in a reference", "password=${DB_PASSWORD:-swordfish}", f"password={HIDDEN}"),
    ("a whole word pass", f"SMTP_PASS={PW}", f"SMTP_PASS={HIDDEN}"),
    ("a value that begins with a bracket", "PASSWORD=(x9!Kd", f"PASSWORD={HIDDEN}"),
    ("two on one line", f"password={PW} token={PW}", f"password={HIDDEN} token={HIDDEN}"),
    ("nested names", "secret=token=abc", f"secret={HIDDEN}"),
    ("many lines", f"a: 1\npassword: {PW}\nb: 2", f"a: 1\npassword: {HIDDEN}\nb: 2"),
]

# Names under which a string goes, and names under which it stays.
NAMES_THAT_HIDE = [
    "password",
    "passwd",
    "pwd",
    "pass",
    "passphrase",
    "secret",
    "token",
    "apiKey",
    "api_key",
    "API-KEY",
    "accessKey",
    "access_key",
    "privateKey",
    "secretKey",
    "secret_key_base",
    "signingKey",
    "encryption_key",
    "clientSecret",
    "client_secret",
    "authorization",
    "Authorization",
    "cookie",
    "Set-Cookie",
    "credential",
    "credentials",
    "connectionString",
    "connection_string",
    "dbPassword",
    "DB_PASSWORD",
    "db.password",
    "mypassword",
    "PASSWORD1",
    "password_2",
    "token-3",
    "dbPass",
    "DB_PASS",
    "smtp-pass",
    "accessToken",
    "ACCESS_TOKEN",
    "refresh_token",
    "authtoken",
    "x-api-key",
    "APIKEY",
    "AWS_SECRET_ACCESS_KEY",
    "GITHUB_TOKEN",
    "userpwd",
    "proxy-authorization",
    "topsecret",
    "APP_SECRET",
    "codeSignToken",
    "api key",
    "Secret Key Base",
    "connection string",
    "api\xa0key",
    "the private key",
]
NAMES_THAT_STAY = [
    "passwords",
    "tokens",
    "secrets",
    "cookies",
    "apiKeys",
    "passwordHint",
    "password_policy",
    "tokenCount",
    "token_type",
    "secretName",
    "cookiePolicy",
    "designToken",
    "design_token",
    "brandToken",
    "pageToken",
    "nextPageToken",
    "next_page_token",
    "nextToken",
    "cursorToken",
    "cursor_token",
    "continuationToken",
    "progressToken",
    "progress_token",
    "compass",
    "bypass",
    "trespass",
    "publicKey",
    "key",
    "keyboard",
    "primaryKey",
    "monkey",
    "authorizations",
    "credentialsFile",
    "connection",
    "author",
    "passing",
    "passenger",
    "tokenizer",
    "designtoken",
    "title",
    "name",
    "id",
    "path",
]

REFERENCES = [
    "$X",
    "$DB_PASSWORD",
    "${X}",
    "${env.X}",
    "$password",
    "<your token>",
    "<token>",
    "{{token}}",
    "{{ api.key }}",
    "****",
    "********",
    "null",
    "true",
    "false",
    "None",
    "42",
    "8080",
    "process.env.X",
    "process.env.API_KEY",
    'os.environ["X"]',
    "os.environ['API_KEY']",
    "get_token()",
    'os.getenv("X")',
    'config.get("a.b", None)',
    "",
    HIDDEN,
    "${{ secrets.DEPLOY }}",
    "%TOKEN%",
    "{token}",
    "%s",
    "xxxxx",
    "...",
]

DIGEST = hashlib.sha256(b"x").hexdigest()
UNTOUCHED = [
    ("prose about passwords", "Reset your password; the new password must differ from the old password."),
    ("prose about tokens", "Tokens expire after an hour. A bearer token is sent with each request."),
    ("a colon and prose", "Password: required"),
    ("a colon and a sentence", "Secret: everyone knows"),
    ("a type after a colon", "token: string;"),
    ("an optional type", "password?: string"),
    ("a hyphened word after a colon", "Token: read-only, rotated daily"),
    ("two alternatives after a colon", "Cookie: yes/no"),
    ("a length", "Password: 12 characters"),
    ("a range", "Password: 8-64 characters"),
    ("a least length", "Password: 8+ characters"),
    ("a duration", "token: 24h"),
    ("a capital after a colon", "Authorization: Required for admins"),
    ("capitals after a colon", "Token: JWT"),
    ("an end of sentence", "This is the secret: patience."),
    ("a list", "Roles may see: password, token, secret."),
    ("a heading", "API key: where to find it"),
    ("a URL after a colon", "Forgot your password: https://example.com/reset?step=2"),
    ("a comparison", "if password == other: fail()"),
    ("an inequality", "password != confirmation"),
    ("a call", "token = make_token(user, 3)"),
    ("a call with quotes", 'password = getpass("Password: ")'),
    ("an awaited call", "const token = await fetchToken(url, { retry: 2 })"),
    ("a method chain", "password: z.string().min(8),"),
    ("an arrow function", "token => verify(token)"),
    ("a member", "token = response.access_token"),
    ("this", "this.password = form.password;"),
    ("an item", 'token = request.headers["X-Token"]'),
    ("an environment lookup", 'API_KEY = os.environ["API_KEY"]'),
    ("a node environment lookup", "apiKey: process.env.API_KEY,"),
    ("an interpolated header", 'headers = {"Authorization": f"Bearer {token}"}'),
    ("a template string", "Authorization: `Bearer ${token}`"),
    ("a joined header", '{"Authorization": "Bearer " + token}'),
    ("an object", "token: { type: String, required: true }"),
    ("a split", 'text.split("token=")[1] + "x"'),
    ("a test of the beginning", 'if line.startswith("password="): return'),
    ("an empty value", "PASSWORD= USER=x"),
    ("empty quotes", 'password = ""'),
    ("an empty parameter", "https://example.com/?token=&page=1"),
    ("a plural", "max_tokens=4096, tokens: 17k"),
    ("a page token", "nextPageToken=CAUQAA12, page_token: abc9"),
    ("a design token", "design token: #ff8800; brandToken = 'Blue9'"),
    ("a progress token", '"progressToken":"abc9"'),
    ("a compass", "compass: N45, bypass=lane2"),
    ("a password's field", '<input type="password" name="password" autocomplete="current-password">'),
    ("a kind", '{"kind":"secret","type":"token","name":"x9"}'),
    ("a path", "private key: ~/.ssh/id_ed25519"),
    ("a path after =", "KEY_FILE=/etc/a1.pem SECRET=/run/secrets/db_password"),
    ("a slug", "sk-ant-colony-simulator"),
    ("a longer slug", "sk-ant-colony-simulator-for-primary-schools-2024"),
    ("a slug in a path", "prototypes/sk-proj-management-dashboard/a/index.html"),
    ("a slug with a version", "sk-learn-pipeline-demo-v2-1080p"),
    ("a slug within a word", "task-management-and-desk-booking-for-offices"),
    ("a risk slug", "risk-assessment-workflow-1234567890"),
    ("a package", "pypi-mirror-for-internal-packages"),
    ("an npm variable", "npm_config_registry npm_package_version npm_lifecycle_event"),
    ("a C name", "sk_buff_alloc_and_copy rk_test_runner_for_everything"),
    ("a library's name", "hf_hub_download_with_retries_and_progress"),
    ("a snake name", "secret_santa_assignment_for_the_office_party"),
    ("a constant", "GITHUB_TOKEN_EXPIRED_ERROR_MESSAGE"),
    ("a camel name", "resetPasswordTokenExpirationTimestampInSeconds"),
    ("short look-alikes", "ghp_short sk-123 AKIA AIzaSy xoxb- glpat-x npm_ r8_ hf_x"),
    ("a sha256 digest", "sha256:" + DIGEST),
    ("a git commit", "commit " + DIGEST[:40]),
    ("an md5", DIGEST[:32]),
    ("a time and a digest", "1718000000:" + DIGEST[:40]),
    ("a uuid", "id 550e8400-e29b-41d4-a716-446655440000"),
    ("an image", "data:image/png;base64," + b64(bytes(range(256)) * 3)),
    ("a script's integrity", 'integrity="sha384-' + b64(hashlib.sha384(b"x").digest()) + '"'),
    (
        "a policy hash",
        "script-src 'sha256-" + b64(hashlib.sha256(b"x").digest()) + "' 'nonce-" + DIGEST[:22] + "'",
    ),
    ("a policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:"),
    ("a long path", "/srv/projects/protoyard-2024-06-15/prototypes/booking-and-inventory/a/index.html"),
    ("a Windows path", "C:\\Users\\anna\\AppData\\Local\\Temp\\index-2024.html"),
    ("a URL", "https://example.com:8080/a/b?c=1&d=2#e"),
    ("a URL with a user", "ssh://git@example.com:22/team/repo.git"),
    ("a URL with an @ in its path", "https://example.com:8080/@team/package"),
    ("a URL with a placeholder", "postgres://app:${DB_PASSWORD}@localhost/app"),
    ("a URL with another placeholder", "https://user:<password>@example.com and https://u:****@example.com"),
    ("an address", "write to mailto:anna@example.com"),
    ("an IPv6 URL", "http://[::1]:8080/x@y"),
    ("a version", "v1.2.3-beta.4+build.20240615"),
    ("a dependency", '"left-pad": "^1.3.0", "sk-toolbar": "2.0.1"'),
    ("a basic plan", "Basic plan 2024, Basic authentication, basic understanding"),
    ("a bearer in prose", "Bearer tokens, bearer authentication, the bearer of this letter"),
    ("a basic word with a version", "Basic HTML5 and CSS3 knowledge"),
    (
        "a bearer placeholder",
        "Authorization: Bearer <token> or Bearer $TOKEN or Bearer ${TOKEN} or Bearer YOUR_TOKEN_HERE",
    ),
    ("what is hidden already", f"password={HIDDEN}, token: {HIDDEN}; Bearer {HIDDEN} x://u:{HIDDEN}@h"),
    (
        "prose about key blocks",
        f"It starts with -----BEGIN {PRIVATE}----- and ends with -----END {PRIVATE}-----.",
    ),
    ("a public key", pem("PUBLIC KEY")),
    ("a certificate", pem("CERTIFICATE")),
    ("an ssh public key", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5" + "AAAA" + "IJx7" * 10 + " anna"),
    ("a Stripe publishable key", "pk" + "_live_" + some(24)),
    ("a signature in prose", "signature=required_on_delivery"),
    ("an abbreviation", "sig=the-signature-goes-here"),
    ("a phone number", "call 555-0123, extension 42"),
    ("a date and a time", "2026-06-15T09:30:00Z"),
    ("an ordinary sentence", "Roles: inspector (field), manager; status: open/closed; due = next Monday."),
    ("a colour", "--accent: #1f6feb; --gap: 12px"),
    ("a JSON pointer", "/entities/3/fields/12/label"),
    ("other scripts", "パスワード: 必須, пароль: нужен, mot de passe : requis"),
    ("a table", "| Password | Token |\n| --- | --- |\n| required | optional |"),
    ("a label", "Access token (optional)"),
    ("a question", "Forgot password? Secret question: what was your first pet?"),
    ("a code list", "Codes: A1-B2-C3-D4, SKU SK-1234-AB, AC-4711"),
    ("a shell reference", 'curl -H "X-Api-Key: $API_KEY" -u "$USER:$PASS"'),
    ("a workflow reference", "token: ${{ secrets.DEPLOY }}"),
    ("a moustache", "password: {{ vault.password }}"),
    ("stars", "Password: ********"),
]


def ids(rows: list[tuple]) -> dict:
    return {"argvalues": rows, "ids": [row[0] for row in rows]}


def test_the_tables_are_as_large_as_they_should_be():
    assert len(TOKENS) + len(FORMS) + len(ASSIGNMENTS) >= 140
    assert len(UNTOUCHED) >= 100
    for rows in (TOKENS, FORMS, ASSIGNMENTS, UNTOUCHED):
        assert len({row[0] for row in rows}) == len(rows)


@pytest.mark.parametrize(("_", "token"), **ids(TOKENS))
def test_a_token_goes_wherever_it_stands(_, token):
    for before, after in [
        ("", ""),
        ("see ", " for it"),
        ("鍵", "です"),
        ("ключ", "это"),
        ("(", ")"),
        ('{"a":"', '"}'),
        ("/tmp/", "/x"),
        ("a\n", "\nb"),
        ("https://example.com/cb#", "&b=1"),
        ("`", "`"),
        ("a\\n", "\\nb"),
        ("value%3D", "%26"),
        ("x_", ". End"),
        ("key is: ", ", ok"),
    ]:
        if after != "/x" or not token.startswith(BASE64_TOKENS):
            assert redact(before + token + after) == before + HIDDEN + after


@pytest.mark.parametrize(("_", "token"), **ids(TOKENS))
def test_a_token_goes_from_values_lists_and_names(_, token):
    value = {"a": [{"b": f"x {token}"}, token], token: {"deep": [[token]]}}
    assert clean(value) == {"a": [{"b": f"x {HIDDEN}"}, HIDDEN], HIDDEN: {"deep": [[HIDDEN]]}}


@pytest.mark.parametrize(("_", "text", "left"), **ids(FORMS + ASSIGNMENTS))
def test_a_secret_goes_and_the_rest_of_the_text_stays(_, text, left):
    assert redact(text) == left
    assert redact(left) == left
    assert clean({"ok": True, "data": [{"note": text}, text]}) == {"ok": True, "data": [{"note": left}, left]}


@pytest.mark.parametrize(("_", "text"), **ids(UNTOUCHED))
def test_what_only_looks_like_a_secret_stays(_, text):
    assert redact(text) == text
    envelope = {"ok": True, "command": "quick", "data": {"notes": [{"text": text}, text], text: {"x": text}}}
    assert clean(envelope) == envelope


@pytest.mark.parametrize("name", NAMES_THAT_HIDE)
def test_under_a_secrets_name_strings_and_lists_of_strings_go(name):
    value = {
        name: "swordfish",
        "in": {name: ["swordfish", "", "$X"]},
        "list": [{name: {"name": "kept", "n": 3}}],
    }
    left = {name: HIDDEN, "in": {name: [HIDDEN, "", "$X"]}, "list": [{name: {"name": "kept", "n": 3}}]}
    assert clean(value) == left


@pytest.mark.parametrize("name", NAMES_THAT_STAY)
def test_under_another_name_strings_stay(name):
    value = {name: "swordfish", "list": [{name: ["swordfish"]}], "text": f'{name}: "swordfish"'}
    assert clean(value) == value


@pytest.mark.parametrize("value", REFERENCES)
def test_a_reference_or_placeholder_stays_where_a_secret_would_go(value):
    envelope = {
        "password": value,
        "list": {"token": [value, f" {value} "]},
        "Authorization": f"Bearer {value}",
    }
    assert clean(envelope) == envelope
    quote = "'" if '"' in value else '"'
    for text in (
        f"PASSWORD={value}",
        f"password = {value}",
        f"token: {quote}{value}{quote}",
        f"api_key={value},b=1",
        f"token: {value}",
    ):
        assert redact(text) == text


def test_numbers_and_booleans_stay_under_a_secrets_name_and_objects_are_searched():
    token = TOKENS[8][1]
    value = {
        "token": 5,
        "pass": True,
        "secret": None,
        "credentials": [{"user": "anna", "password": "x"}, 1.5, token],
    }
    assert clean(value) == {
        "token": 5,
        "pass": True,
        "secret": None,
        "credentials": [{"user": "anna", "password": HIDDEN}, 1.5, HIDDEN],
    }


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        ("/settings/apiKey", True),
        ("/password", True),
        ("/password/-", True),
        ("/credentials/0", True),
        ("/title", False),
        ("/tokens/0", False),
        ("", False),
        ("/designToken", False),
    ],
)
def test_in_a_json_patch_the_last_segment_is_the_name_of_the_value(path, hidden):
    operation = {"op": "replace", "path": path, "value": "swordfish"}
    assert clean([operation]) == [{**operation, "value": HIDDEN if hidden else "swordfish"}]
    assert clean({"path": "/password", "value": "swordfish"}) == {"path": "/password", "value": "swordfish"}


def test_by_name_beats_by_shape():
    assert clean({"APP_SECRET": DIGEST, "digest": DIGEST}) == {"APP_SECRET": HIDDEN, "digest": DIGEST}
    assert clean({"authorization": "Bearer " + some(20)}) == {"authorization": HIDDEN}


def test_member_names_that_become_equal_are_numbered_and_nothing_is_lost():
    first, second, third = (token for _, token in TOKENS[8:11])
    value = {first: 1, second: 2, HIDDEN + " 2": 3, third: 4, "a\x00": 5, "a": 6}
    left = clean(value)
    assert sorted(left.values()) == [1, 2, 3, 4, 5, 6]
    assert left["a"] == 6
    assert left[HIDDEN + " 2"] == 3
    assert list(left) == [HIDDEN, HIDDEN + " 3", HIDDEN + " 2", HIDDEN + " 4", "a 2", "a"]
    assert clean(left) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\ud800b\udfffc", "a\ufffdb\ufffdc"),
        ("\ud83d\ude00", "\ufffd\ufffd"),
        ("tab\tnewline\nreturn\rend", "tab\tnewline\nreturnend"),
        ("".join(map(chr, range(32))) + "\x7f\x80\x85\x9f\xa0", "\t\n\xa0"),
        ("\u2028 \u200b \U0001f600 ok", "\u2028 \u200b \U0001f600 ok"),
    ],
)
def test_characters_that_harm_a_reader_go(text, left):
    assert clean_text(text) == left
    assert clean({text: [text]}) == {left: [left]}


def test_control_characters_do_not_hide_a_secret():
    token = TOKENS[8][1]
    assert clean(f"x {token[:6]}\x00{token[6:20]}\x1b{token[20:]} y") == f"x {HIDDEN} y"
    assert clean({"pass\x07word": "swordfish"}) == {"password": HIDDEN}


def test_other_values_are_copied_as_they_are():
    value = {"n": 1, "f": 1.5, "t": True, "x": None, "l": [], "o": {}}
    assert clean(value) == value
    assert clean(value) is not value
    assert clean(("a", 1)) == ["a", 1]


PIECES = (
    [token for _, token in TOKENS]
    + [text for _, text, _ in FORMS + ASSIGNMENTS]
    + [text for _, text in UNTOUCHED]
    + REFERENCES
    + list(" =:;,.&/@\"'`<>()[]{}\\|\n\t-_$%#")
    + [
        "password",
        "token",
        "sig",
        "://",
        " = ",
        ": ",
        ":=",
        "=>",
        "Bearer ",
        "Cookie: ",
        "eyJ",
        "-----BEGIN ",
        "\\n",
        '\\"',
        "AKIA",
        "です",
    ]
)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_text_cleaning_it_again_changes_nothing(seed):
    source = random.Random(seed)
    for _ in range(100):
        pieces = [source.choice(PIECES) for _ in range(source.randint(1, 8))]
        pieces = [
            piece[source.randrange(len(piece) or 1) :] if source.random() < 0.3 else piece for piece in pieces
        ]
        text = "".join(pieces)
        once = clean({text: [text], "password": text})
        assert clean(once) == once


# Where a careless pattern would try every place against every other: each is repeated many times.
HEAVY = [
    "eyJ",
    "-eyJ",
    "_eyJ",
    "%20eyJ",
    "eyJaaaaaaaaaa",
    "eyJaaaaaaaaaa.",
    "ghp_",
    "-ghp_",
    "sk-a-",
    "://a:b",
    "://a:",
    "a:b@",
    f"-----BEGIN {PRIVATE}-----",
    "-----BEGIN ",
    f"-----BEGIN {PRIVATE}-----\nAa: b",
    "\nAa: Aa: ",
    "Bearer ",
    "Basic a.",
    "password",
    "password:",
    "password=",
    'password="',
    "password='\\\"",
    "pass:[",
    "token:https://",
    "token=[",
    "token: <",
    "token:{{",
    "token=a(",
    "token: a(b",
    "secret=a,b",
    "cookie: a=b; ",
    "cookie: a=b;",
    "a=1,",
    '\\\\"',
    "\\",
    '"',
    "'",
    "{",
    "[",
    "-",
    "_",
    "=",
    ":",
    "\n",
    " ",
    "a",
    "A1",
    "SG.",
    "SG.aaaaaaaaaaaaaaaaaaaa",
    "xoxe.xoxp-",
    "1234567:",
    "hooks.slack.com/services/",
    "sig=",
    "%3D",
    "\\n",
    "\\u0026",
    "x-amz-signature=",
    "AccountKey=",
    "AKIA",
    "AKIAAAAAAAAAAAAAAAAA,",
    "token: a-",
    "token=a'",
    "token:a.b.",
    "token=/a",
    "\uff50assword=",
]


@pytest.mark.parametrize("unit", HEAVY)
def test_a_text_made_to_be_slow_is_still_cleaned_to_something_stable(unit):
    text = (unit * 20_000)[:20_000]
    left = redact(text)
    assert redact(left) == left


def measure() -> None:
    """Seconds for 128 and 512 KiB of each heavy text: the second must be about four times the first."""
    for unit in [*HEAVY, *(text for _, text in UNTOUCHED)]:
        times = []
        for size in (128 * 1024, 512 * 1024):
            text = (unit * size)[:size]
            started = time.perf_counter()
            redact(text)
            times.append(time.perf_counter() - started)
        print(f"{times[0]:8.3f} {times[1]:8.3f} {times[1] / times[0]:5.1f}  {unit[:60]!r}")


if __name__ == "__main__":
    measure()
