"""Planted secrets and harmless look-alikes. Secrets are put together at run time, so that no scanner finds one here."""

from __future__ import annotations

import base64
import html
import json
import random
import re
import string
from collections.abc import Callable

_LETTERS = string.ascii_letters + string.digits
_HEX = "0123456789abcdef"
_SEED_PHRASE = "orbit candle ladder frozen velvet pigeon marble cactus harbor timber saddle walnut"
_BASE32 = string.ascii_uppercase + "234567"


def _body(alphabet: str, length: int, seed: int) -> str:
    """Characters that look random and are the same in every run; a digit is always among them."""
    characters = random.Random(seed).choices(alphabet, k=length)
    characters[length // 2] = "7"
    return "".join(characters)


def vendor_keys() -> dict[str, str]:
    """Keys of known shape by a name of their kind."""
    shapes = {
        "aws": ("AK" + "IA", _BASE32, 16),
        "aws temporary": ("AS" + "IA", _BASE32, 16),
        "google api": ("AI" + "za", _LETTERS + "-_", 35),
        "google client": ("GOC" + "SPX-", _LETTERS, 28),
        "google access": ("ya" + "29.", _LETTERS + "-_", 80),
        "github": ("gh" + "p_", _LETTERS, 36),
        "github app": ("gh" + "s_", _LETTERS, 36),
        "github fine": ("github" + "_pat_", _LETTERS, 82),
        "gitlab": ("gl" + "pat-", _LETTERS, 20),
        "bitbucket": ("AT" + "BB", _LETTERS, 32),
        "atlassian": ("ATA" + "TT3", _LETTERS, 184),
        "slack bot": ("xo" + "xb-", string.digits, 40),
        "slack app": ("xa" + "pp-1-", _LETTERS, 60),
        "stripe": ("sk" + "_live_", _LETTERS, 24),
        "stripe restricted": ("rk" + "_test_", _LETTERS, 24),
        "npm": ("np" + "m_", _LETTERS, 36),
        "pypi": ("py" + "pi-AgEIcHlwaS5vcmc", _LETTERS + "-_", 120),
        "docker": ("dckr" + "_pat_", _LETTERS, 27),
        "openai": ("sk" + "-proj-", _LETTERS + "-_", 120),
        "openai old": ("sk" + "-", _LETTERS, 48),
        "anthropic": ("sk" + "-ant-api03-", _LETTERS + "-_", 95),
        "openrouter": ("sk" + "-or-v1-", _HEX, 64),
        "hugging face": ("hf" + "_", _LETTERS, 34),
        "groq": ("gs" + "k_", _LETTERS, 52),
        "xai": ("xa" + "i-", _LETTERS, 80),
        "perplexity": ("pp" + "lx-", _LETTERS, 48),
        "replicate": ("r8" + "_", _LETTERS, 37),
        "nvidia": ("nv" + "api-", _LETTERS, 64),
        "digitalocean": ("do" + "p_v1_", _HEX, 64),
        "databricks": ("da" + "pi", _HEX, 32),
        "vault": ("hv" + "s.", _LETTERS, 24),
        "sendgrid": ("S" + "G." + _body(_LETTERS, 22, 99) + ".", _LETTERS, 43),
        "shopify": ("shp" + "at_", _HEX, 32),
        "linear": ("lin" + "_api_", _LETTERS, 40),
        "mailgun": ("ke" + "y-", _HEX, 32),
        "discord": ("MT" + "I" + _body(_LETTERS, 21, 96) + ".G" + _body(_LETTERS, 5, 95) + ".", _LETTERS, 38),
        "pulumi": ("pu" + "l-", _HEX, 40),
        "square": ("EA" + "AA", _LETTERS, 60),
        "dynatrace": ("dt" + "0c01." + _body(_BASE32, 24, 94) + ".", _BASE32, 64),
        "clojars": ("CLOJ" + "ARS_", _HEX, 60),
        "crates": ("ci" + "o", _LETTERS, 32),
        "artifactory": ("AK" + "Cp", _LETTERS, 69),
        "buildkite": ("bk" + "ua_", _HEX, 40),
        "prefect": ("pn" + "u_", _LETTERS, 36),
        "elevenlabs": ("sk" + "_", _HEX, 48),
        "posthog": ("ph" + "x_", _LETTERS, 43),
        "terraform": (_body(_LETTERS, 14, 93) + ".atlas" + "v1.", _LETTERS, 64),
        "jwt": ("ey" + "J" + _body(_LETTERS, 17, 98) + ".ey" + "J" + _body(_LETTERS, 60, 97) + ".", _LETTERS, 43),
    }
    return {
        name: prefix + _body(alphabet, length, seed)
        for seed, (name, (prefix, alphabet, length)) in enumerate(shapes.items())
    }


def private_key(line_break: str = "\n", label: str = "RSA ") -> str:
    """A private key block."""
    lines = [_body(_LETTERS + "+/", 64, seed) for seed in range(5)]
    begin, end = (f"-----{word} {label}PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
    return line_break.join([begin, *lines, end])


def given_secrets() -> list[tuple[str, str]]:
    """Secrets without a shape of their own, as `(text, the secret in it)`."""
    long, short, hexadecimal = _body(_LETTERS, 40, 7), _body(_LETTERS + "!@#%", 12, 8), _body(_HEX, 40, 9)
    forms = [
        ("DB_PASSWORD={}", short),
        ("export MYSQL_PWD={}", short),
        ("SMTP_PASS={}", short),
        ('password = "{}"', short),
        ("password: '{}'", short),
        ('{{"user": "ann", "password": "{}"}}', short),
        ('"{{\\"password\\": \\"{}\\"}}"', short),
        ("mysql --user=root --password={} shop", short),
        ("tool login --password {} --yes", short),
        ("tool --api-key {} run", long),
        ('config["api_key"] = "{}"', long),
        ('api_key: str = "{}"', long),
        ("OPENAI_API_KEY={}", long),
        ("aws_secret_access_key = {}", long),
        ('clientSecret: "{}",', long),
        ("SECRET_KEY_BASE64={}", long),
        ("X-Api-Key: {}", hexadecimal),
        ("WANDB_API_KEY={}", hexadecimal),
        ("https://host.invalid/path?access_token={}&page=2", long),
        ("Authorization: Bearer {}", long),
        ("-H 'Authorization: token {}'", hexadecimal),
        ('"authorization": "Basic {}=="', long),
        ("machine host.invalid login ann password {}", short),
        ("postgres://ann:{}@db.invalid:5432/shop", _body(_LETTERS, 12, 10)),
        ("https://oauth2:{}@git.invalid/a.git", long),
        ("Server=db;User Id=ann;Password={};Encrypt=true", _body(_LETTERS, 12, 11)),
        ("AccountName=a;AccountKey={};EndpointSuffix=x", _body(_LETTERS + "+/", 86, 12) + "=="),
        ("curl -u ann:{} https://host.invalid", short.replace("#", "x")),
        ("sshpass -p {} ssh host.invalid", _body(_LETTERS, 10, 13)),
        ("https://hooks.slack" + ".com/services/{}", "T0123ABCD/B0123ABCD/" + _body(_LETTERS, 24, 14)),
        ("<password>{}</password>", short),
        ("docker login -u ann -p {} host.invalid", short),
        ("aws configure set aws_secret_access_key {}", long),
        ("< Set-Cookie: session={}; Path=/", long),
    ]
    return [
        (form.format(secret), secret) for form, secret in [*forms, *_of_tools(short, long), *_apart_from_its_name(long)]
    ]


def _of_tools(short: str, long: str) -> list[tuple[str, str]]:
    """Forms in which tools take or keep secrets, and people say them."""
    pair = base64.b64encode(f"ann:{long}".encode()).decode()
    return [
        ("mysql -u root -p{} shop", "x" + short.replace("#", "x")),
        ("docker exec db mariadb-dump -uann -p'{}' shop", "x" + short.replace("#", "x")),
        ("echo {} | docker login -u ann --password-stdin host.invalid", long),
        ("printf '%s' '{}' | sudo helm registry login host.invalid --password-stdin", long),
        ("echo {} | sudo -S true", short),
        ('{{"auths": {{"host.invalid": {{"auth": "{}"}}}}}}', pair),
        ("//host.invalid/:_auth={}", pair),
        ("    client-key-data: {}", base64.b64encode(private_key().encode()).decode()),
        ("  tls.key: {}", base64.b64encode(private_key(label="").encode()).decode()),
        ("  token: {}", base64.b64encode(vendor_keys()["github"].encode()).decode()),
        ("cat key.txt\n{}", base64.b64encode(vendor_keys()["anthropic"].encode()).decode()),
        ("AZURE_DEVOPS_EXT_PAT={}", _body(_BASE32.lower(), 52, 20)),
        ("export GH_PAT={}", long),
        ("SERVER_KEY={}", long),
        ("VAULT_TOKEN={}", "s." + _body(_LETTERS, 24, 21)),
        ("postgres://ann:{}@db.invalid/shop", "p@ss" + _body(_LETTERS, 8, 22)),
        ("SENTRY_DSN=https://{}@o12345.ingest.sentry.io/67890", _body(_HEX, 32, 23)),
        ("Cookie: theme=dark; lang=en; sid={}; seen=1", long),
        ("my password is {}", short),
        ("{} is the password to this computer", short),
        ("Use {} as the sudo password.", short),
        ("The password is {}.", "730518"),
        ("**{}** is still the password", short),
        ("use {} as password", short),
        ("The user gave me the password {}. Let me use it.", "730518"),
        ("the token is {} for now", long),
        ("seed phrase: {}", _SEED_PHRASE),
    ]


def _apart_from_its_name(long: str) -> list[tuple[str, str]]:
    """Forms in which a secret stands on another line than its name, as an argument, in a column, or is only piped."""
    return [
        ("  - name: DB_PASSWORD\n    value: {}", long),
        ("db_password: |\n  {}\nother: 1", long),
        ("api_key: >-\n    {}\n", long),
        ('variable "db_password" {{\n  type = string\n  default = "{}"\n}}', long),
        ("machine host.invalid\n  login ann\n  password {}\n", long),
        ("ENV AWS_SECRET_ACCESS_KEY {}", long),
        ('<add key="ApiKey" value="{}"/>', long),
        ("define('DB_PASSWORD', '{}');", long),
        ("secret_key_base: '{}'", long),
        ('source.setPassword("{}");', long),
        ('ConvertTo-SecureString "{}" -AsPlainText -Force', long),
        ('setx API_KEY "{}"', long),
        ("DB_PASSWORD             = {}", f"{long[:14]}7"),
        ("password:                {}", f"{long[:14]}7"),
        ("PresharedKey = {}=", _body(_LETTERS + "+/", 43, 23)),
        ("password    {}", long),
        ("| DB_PASSWORD | {} |", long),
        ("**Password:** {}", long),
        ("dsn=postgres%3A%2F%2Fann%3A{}%40db.invalid%2Fshop", long),
        ("db.invalid:5432:shop:ann:{}", long),
        ("CREATE USER ann IDENTIFIED BY '{}';", long),
        ("ALTER ROLE ann PASSWORD '{}';", long),
        ("ldapsearch -D cn=ann -w {} -b dc=x", long),
        ("redis-cli -h host.invalid -a {} ping", long),
        ("mongosh -u ann -p {} host.invalid", long),
        ("htpasswd -b .htpasswd ann {}", long),
        ("openssl enc -aes-256-cbc -pass pass:{} -in a", long),
        ("echo 'ann:{}' | chpasswd", long),
        ("echo {} | gh secret set API_KEY", long),
        ("gh secret set API_KEY --body {}", long),
        ("aws secretsmanager create-secret --name x --secret-string {}", long),
        ("az keyvault secret set --vault-name v -n x --value {}", long),
        ("`kind: Secret\ndata:\n  PGPASS: {}`", base64.b64encode(long[:20].encode()).decode()),
        ("{}\n-----END PRIVATE" + " KEY-----", "\n".join(private_key().split("\n")[2:5])),
    ]


def forms() -> dict[str, Callable[[str, str], str]]:
    """Ways in which a secret stands in recordings: each takes a text and the secret in it, and gives the text."""
    return {
        "plain": lambda text, _: text,
        "coloured": lambda text, secret: text.replace(secret, f"\x1b[33m{secret}\x1b[0m"),
        "coloured throughout": lambda text, _: f"\x1b[1;31m{text}\x1b[39m\x1b[0m",
        "colours written out": lambda text, secret: text.replace(secret, f"\\u001b[33m{secret}\\u001b[0m"),
        "colours without escapes": lambda text, secret: text.replace(secret, f"[33m{secret}[0m"),
        "zero-width characters": lambda text, secret: text.replace(secret, "\u200b".join((secret[:9], secret[9:]))),
        "JSON": lambda text, _: json.dumps({"output": f"one\n{text}\ntwo"}),
        "JSON with slashes escaped": lambda text, _: json.dumps({"output": text}).replace("/", r"\/"),
        "JSON with letters escaped": lambda text, _: _with_letters_escaped(json.dumps({"output": text})),
        "diff": lambda text, _: "\n".join(["@@ -1 +1 @@", f"-{text}", "+gone"]),
        "HTML": lambda text, _: f"<pre>{html.escape(text)}</pre>",
        "shell": lambda text, _: f"cat <<'EOF' > out\n{text}\nEOF",
        "prose": lambda text, _: f"I found this in the log: {text} – what now?",
        "numbered lines": lambda text, _: f"    11\tx = 1\n    12\t{text}\n    13\ty = 2",
        "split by a terminal": _split_by_a_terminal,
    }


def _with_letters_escaped(text: str) -> str:
    """JSON text with each `s` and `k`, with which many names for secrets and keys begin, written as an escape."""
    return re.sub(r"(?<!\\)[sk]", lambda letter: f"\\u{ord(letter.group()):04x}", text)


def _split_by_a_terminal(text: str, secret: str) -> str:
    """The text as a terminal of 80 columns shows it, with a line break in the middle of the secret."""
    line = text[: text.index(secret)].rpartition("\n")[2]
    filling = "." * ((79 - len(line) - min(len(secret) // 2, 40)) % 80)
    lines = f"{filling} {text}".split("\n")
    return "\n".join(line[start : start + 80] for line in lines for start in range(0, max(len(line), 1), 80))


HARMLESS = [
    "the password is 12 characters long",
    "OAuth2 is the password flow, and step02 is the password reset",
    "Line 73051 is the password field, use Argon2id as the password hash",
    "param_2 is the password, sys.argv[2] is the password, the password is 20250714",
    "commit 4f0c2f1f7d5b0a9f3a1e2d4c5b6a7980f1e2d3c4",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    'api_key = "your-api-key"',
    'api_key="YOUR_API_KEY_HERE_1234"',
    "export OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxx1",
    "AKIAIOSFODNN7" + "EXAMPLE",
    "PASSWORD=$DB_PASSWORD",
    "password: ${PASSWORD:-default1}",
    "password: !vault |",
    "Set-Cookie: theme=dark; Path=/",
    "set password requirements first",
    'password: "${DB_PASSWORD}"',
    "token: ${{ secrets.GITHUB_TOKEN }}",
    'key = os.environ["OPENAI_API_KEY"]',
    "apiKey: process.env.OPENAI_API_KEY,",
    "password=None",
    "password: Optional[str] = None",
    "password: str",
    "  token: string;",
    "token_count: 123456",
    '"max_tokens": 4096, "total_tokens": 123456789',
    "Original token count: 2153",
    "password = get_password()",
    "password = config.database.password",
    "token = tokens[index]",
    "const token = await fetchToken1(request)",
    "password=password",
    'password="test-password"',
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "'Authorization': `Bearer ${apiKey}`",
    'api_key = "REDACTED"',
    "API_KEY=[REDACTED:api-key]",
    "postgres://user:password@localhost/db",
    "postgres://${USER}:${PASSWORD}@host/db",
    "https://host.invalid:8080/path@2x.png",
    "git@github.com:owner/repo.git",
    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    'if "-----BEGIN RSA PRIVATE KEY-----" in text:',
    "the secret: keep functions small",
    "it passes the password by `--password=` as an argument of `mysql`",
    "- Local login only.\n- Password policy: 12-char",
    "const token = req.body?.refreshToken",
    "the password is required, the token is invalid1",
    "mysql -u root -p shop; mysql -P3306 shop; mkdir -p /srv/mysql-data1",
    "auth: AuthenticationService1, author=Ann",
    "write the recovery phrase down and keep this paper in a very safe place where nobody else looks for papers",
    "\u26a0\ufe0f password: required",
    "next_page_token: CAUQAA1234567890abcdef",
    'secretName: "my-app-tls-secret"',
    "secretKeyRef: { name: db, key: password }",
    "PWD=/home/ann/project1",
    "token = AuthToken.from_header(value)",
    'passwordField: "input#password-1"',
    "bypass: enabled-1 compass=north-2",
    'token_url = "https://host.invalid/oauth2/token"',
    "private_key_path=/etc/ssl/key1.pem",
    'SECRET_KEY = "change-me-1234567890"',
    "public_key: MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE1234",
    "primary_key=True, foreign_key='users.id1234'",
    "key: 7f3c9a2b1d4e5f60718293a4b5c6d7e8",
    "use --token to pass a token, --password prompts for one",
    "sk-fading-circle sk-folding-cube-loader-animation",
    "--- PASS: TestTokenRefresh1 (0.00s)",
    'PASSWORD="password123"',
    "- name: PASSWORD_FILE\n  value: /run/secrets/db1",
    "- name: TOKEN_URL\n  value: https://host.invalid/oauth2/token1",
    "password: |\n  At least twelve characters, one of them a digit",
    "| Password | required, 12 characters | no |",
    "msg: bytes, key: Ed25519PrivateKey | Ed448PrivateKey",
    'form.setPassword("new-password-1")',
    'store.get("token", "default-value1")',
    "password    text not null\ntoken       varchar(255)",
    "kind: Secret\nmetadata:\n  name: my-app-tls-secret1",
    "kind: ConfigMap\ndata:\n  banner: SGVsbG8gd29ybGQ=",
    "ENV NODE_ENV production1",
    "a library identified by 'name-1234'. The password is kept.",
    "redis-cli -a $REDIS_PASSWORD ping; mongosh -p $MONGO_PASSWORD host.invalid",
    'gh secret set API_KEY --body "$KEY"; echo $KEY | gh secret set API_KEY',
    "openssl enc -pass env:PASSPHRASE -in a; ldapsearch -W -D cn=ann -b dc=x",
    "- Ask for a login only.\n- Password policy1 is below",
    "tokenizer = AutoTokenizer.from_pretrained('a-model-1b')",
]
