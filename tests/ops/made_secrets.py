"""Secrets of every kind that is known, made up: put together here, so that no search of this repository finds them."""

from __future__ import annotations

import base64
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits

_random = Random(7)
ALPHANUMERIC = ascii_letters + digits
HEX = digits + "abcdef"


def some(length: int, letters: str = ALPHANUMERIC) -> str:
    """Return random characters, digits and letters among them."""
    while True:
        text = "".join(_random.choices(letters, k=length))
        if any(map(str.isdigit, text)) and any(map(str.isalpha, text)):
            return text


def _token() -> str:
    header, said = b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"1234567890","admin":true}'
    parts = [base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (header, said)]
    return ".".join([*parts, some(43)])


def _key_block(kind: str, lines: int) -> str:
    body = "\n".join(some(64, ALPHANUMERIC + "+/") for _ in range(lines))
    return f"-----BEGIN {kind}PRIVATE " + f"KEY-----\n{body}\n-----END {kind}PRIVATE " + "KEY-----"


KEY_BLOCK = _key_block("RSA ", 13)
GITHUB = "gh" + "p_" + some(36)
ANTHROPIC = "sk-" + "ant-" + "api03-" + some(93) + "AA"
AWS = "AK" + "IA" + some(16, ascii_uppercase + "234567")
PASSWORD = "T7x" + "9Lq2Wz" + "4vB"

SHORT = "Xk29fj" + "Qp7wLz4vB"
"""What has no quotes must look more random the shorter it is: this one is found by its capitals."""
LOWER = "k29f" + "jqp7wlz4"
BARE_NAMES = [
    "password", "passwd", "PWD", "Secret", "token", "api_key", "api-key", "apikey", "access_key", "client_secret",
    "auth_token",
]  # fmt: skip

SECRETS: dict[str, list[str]] = {
    "age-secret-key": ["AGE-SECRET" + "-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L")],
    "anthropic-key": [ANTHROPIC],
    "artifactory-key": [f"artifactory {some(3)} key " + '"' + "AK" + "C" + some(40) + '"'],
    "atlassian-token": ["ATA" + "TT3" + some(180)],
    "aws-key": [AWS, f"aws_secret_access_key = {some(40)}", '{\\n  \\"id\\": \\n' + AWS],
    "azure-account-key": ["DefaultEndpointsProtocol=https;Account" + f"Key={some(86)}=="],
    "cloudant-key": ["cloudant_" + f"password = '{some(64, HEX)}'"],
    "connection-string": [
        f"postgres://admin:{PASSWORD}@db.internal/app",
        f"redis://:{PASSWORD}@10.0.0.7:6379",
        f"https://me:{PASSWORD}!@git.corp.io/x.git",
    ],
    "databricks-token": ["da" + "pi" + some(32, HEX)],
    "digitalocean-token": ["do" + "p_v1_" + some(64, HEX)],
    "discord-token": [f"discord token: M{some(23)}.{some(6)}.{some(27)}"],
    "docker-token": ["dc" + "kr_pat_" + some(27)],
    "github-fine-grained-token": ["github" + "_pat_" + some(22) + "_" + some(59)],
    "github-token": [GITHUB, "gh" + "s_" + some(36), "gh" + "o_" + some(36)],
    "gitlab-token": ["gl" + "pat-" + some(20), "gl" + "rt-" + some(20)],
    "google-api-key": ["AI" + "za" + some(35)],
    "google-oauth-secret": ["GOC" + "SPX-" + some(28)],
    "google-oauth-token": ["ya" + "29." + some(60)],
    "grafana-token": ["gl" + "sa_" + some(32) + "_" + some(8, HEX)],
    "groq-key": ["gs" + "k_" + some(52)],
    "hugging-face-token": ["h" + "f_" + some(34)],
    "ibm-cloud-key": ["ibm_cloud_" + f"api_key: {some(44)}"],
    "ibm-storage-key": ["ibm_cos_hmac_" + f"secret_access_key = {some(48, HEX)}"],
    "json-web-token": [_token()],
    "linear-key": ["lin" + "_api_" + some(40)],
    "mailchimp-key": [some(32, HEX) + "-us" + "12"],
    "notion-token": ["nt" + "n_" + some(46)],
    "npm-token": ["np" + "m_" + some(36), "//npm.corp.io/:_auth" + f"Token={some(36, ascii_lowercase + digits)}"],
    "openai-key": [
        "sk-" + some(20) + "T3Blbk" + "FJ" + some(20),
        "sk-" + "proj-" + some(74) + "T3Blbk" + "FJ" + some(74),
        "sk-" + "svcacct-" + some(60),
    ],
    "openrouter-key": ["sk-" + "or-v1-" + some(64, HEX)],
    "perplexity-key": ["pp" + "lx-" + some(48)],
    "private-key": [
        KEY_BLOCK,
        _key_block("OPENSSH ", 6),
        KEY_BLOCK.replace("\n", "\\n"),
        "PuTTY-User-" + f"Key-File-2: ssh-rsa\nEncryption: none\nComment: x\n{some(64)}\nPrivate-MAC: 1",
    ],
    "pypi-token": ["py" + "pi-AgEIcHlwaS5vcmc" + some(80)],
    "sendgrid-key": ["S" + "G." + some(22) + "." + some(43)],
    "sentry-token": ["sn" + "trys_" + some(60)],
    "shopify-token": ["sh" + "pat_" + some(32, HEX)],
    "sk-key": ["sk" + "-" + some(48)],
    "slack-app-token": ["xa" + "pp-1-" + f"A{some(10, ascii_uppercase + digits)}-12345-{some(64, HEX)}"],
    "slack-session-token": ["xo" + "xd-" + some(60)],
    "slack-token": [
        "xo" + "xb-1234567890123-1234567890123-" + some(24),
        "https://hooks.slack" + f".com/services/T{some(8)}/B{some(8)}/{some(24)}",
    ],
    "softlayer-key": ["softlayer_" + f"api_key = {some(64, HEX)}"],
    "square-secret": ["sq0" + "csp-" + some(43)],
    "stripe-key": ["sk_" + "live_" + some(24), "rk_" + "live_" + some(24)],
    "stripe-webhook-secret": ["wh" + "sec_" + some(32)],
    "tailscale-key": ["ts" + "key-auth-" + some(12) + "CNTRL-" + some(32)],
    "telegram-bot-token": ["1234567890" + ":AA" + some(33)],
    "twilio-key": ["twilio token S" + "K" + some(32, HEX)],
    "vault-token": ["hv" + "s." + some(90)],
    "xai-key": ["xa" + "i-" + some(80)],
    "authorization-header": [
        'curl -H "Author' + f'ization: Bearer {some(40)}" https://x',
        "{'Author" + f"ization': 'Basic {base64.b64encode(some(20).encode()).decode()}'}}",
    ],
    "assigned-secret": [
        f'password = "{PASSWORD}"',
        f"DB_PASSWORD={PASSWORD}\n",
        f"  apiKey: '{some(20)}',",
        f'{{\\"clientSecret\\": \\"{some(24)}\\"}}',
        f'config["secret_token"] = "{some(24)}"',
        f"export MY_API_KEY={some(24)} && run",
        f"token: {some(32)}",
        f"X-Api-Key: {some(32)}",
        *(f"{name}{sign}{SHORT}" for name in BARE_NAMES for sign in ("=", ": ", " = ", " := ", " => ")),
        f"password: {LOWER}",
        f"password{' ' * 12}= {SHORT}",
        f"curl -u admin:{SHORT} https://x",
        f"curl -sSL --user 'admin:{SHORT}' https://x.io/curl",
        f"curl https://x.io \\\n  -X POST \\\n  -su admin:{SHORT} -d @body",
        f'{{"cmd": "curl -u \\"admin:{SHORT}\\" https://x"}}',
        f"curl -x proxy --proxy-user=me:{SHORT} https://x",
        f"mysql -u root -p{SHORT} shop",
        f"mysqldump -h mysql.corp.io -u mysql -p'{SHORT}' shop > dump.sql",
        f"mariadb -uroot -p{SHORT}",
        f"sshpass -p {SHORT} ssh me@x.io",
        f"sshpass -e -p'{SHORT}' scp a me@x.io:",
        f"redis-cli -h redis.corp.io -a {SHORT} ping",
        f"redis-cli --pass {SHORT}",
        f"machine x.io login me password {SHORT}",
        f"machine machine.x.io\n  login me\n  account us\n  password {SHORT}\n",
        f"default login me password {SHORT}",
    ],
}
"""Texts with one secret each, by the rule that finds it."""

HARMLESS: list[str] = [
    f"commit {some(40, HEX)}",
    f"fixed in {some(40, HEX)}, key is {some(40, HEX)}",
    "123e4567-e89b-12d3-a456-426614174000",
    "token: 123e4567-e89b-12d3-a456-426614174000",
    'token = "' + some(40, HEX) + '"',
    f"aws sdk, key of the commit {some(40, HEX)}",
    f'"integrity": "sha512-{some(86)}=="',
    f"sha256:{some(64, HEX)}",
    "const token = crypto.randomBytes(32).toString('hex')",
    'password = os.environ["DB_PASSWORD"]',
    "        username, password = self.auth_decoded",
    "key_password=self.key_password,",
    "exports.CreateOAuth2TokenCommand = CreateOAuth2TokenCommand;",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY",
    "API_KEY=$OPENAI_API_KEY",
    'apiKey: "your-api-key-12"',
    "password: string; secret: number",
    "the password: see below",
    "password: ${VAR}",
    "password=None",
    "token: str",
    "secret = load()",
    "password=changeme1A",
    "password=xxxxXXXX1",
    "password: <Password1>",
    "token=obj1.attr2x",
    "password: self.passW0rd2",
    "token = T0kenT1pe2",
    "key=Utf8Mb4Xyz",
    "token: 3fa9c1d27e04",
    "secret = make2(3)",
    "curl -u user:password https://x",
    'curl -u "$USER:$PASS1a" https://x',
    "curl -u admin:${PW1aB2cD} https://x",
    "curl -o out1:2aB3cD4eF.txt https://x",
    "mysql -u root -p shop1_test2",
    "docker run --name mysql -p127.0.0.1:3306:3306 mysql:8",
    "mysql -P33060 -p$MYSQL_PW1a",
    'sshpass -p "$PASS1a2B" ssh me@x.io',
    "sshpass -f ~/.pw/Ab1cD2eF3g ssh me@x.io",
    "redis-cli -a $REDIS_PW1a2",
    "machine learning needs a password manager2",
    "machine x.io login me password <Ab1cD2eF3g>",
    'error: "invalid password for user42"',
    "MAX_TOKENS=4096000000",
    "totalTokens: 123456789012345678",
    "tokenspeed==3.7.10.post20260505",
    "secretName: my-secret-name-v2-prod01",
    "postgres://user:password@localhost/db",
    "postgres://postgres:postgres@localhost:5432/app",
    "https://me:${TOKEN}@github.com/x/y.git",
    "https://user:p4ssw0rd9@example.com/x",
    "http://localhost:8080/a@b",
    "-----BEGIN PRIVATE " + "KEY-----",
    'if line.startswith("-----BEGIN RSA PRIVATE ' + 'KEY-----"): keys.append(line)',
    "the task-and-disk-usage of risk-averse-people-who-like-sk-dashes",
    "eyJustLooksLikeOne.butIsNone.atAll",
    "src/auth/token2/handler.ts:token: src/auth/token2.ts",
    "sk-learn-is-a-library-for-machine-learning-in-python",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${GITHUB_TOKEN_FOR_CI_1}",
    "data:image/png;base64," + base64.b64encode(_random.randbytes(4000)).decode(),
    base64.b64encode(_random.randbytes(60_000)).decode(),
]
"""Texts without a secret that look like one, or have what secrets begin with."""
