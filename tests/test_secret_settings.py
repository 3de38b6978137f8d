"""Secret settings are masked, and ordinary configuration and code stay readable."""

from __future__ import annotations

import subprocess
import sys

import pytest

from codelens.secret_files import has_secret_values, masked_text

# Assembled here, so that scanners of this repository find no key.
HEX = "8f42a73054b1749f" + "8f58848be5e6502c"
RANDOM = "q1W2e3R4t5Y6u7I8" + "o9P0a1S2d3F4g5H6"
BEGIN, END = ("-----" + f"{word} RSA PRIVATE " + "KEY-----" for word in ("BEGIN", "END"))


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("application-prod.yml", "    password: s3cr3t! # new", "    password: *** # new"),
        ("application.yml", "password: swordfish", "password: ***"),
        ("a.yml", "client-secret: \"a b'c9\"", "client-secret: ***"),
        ("a.yml", "u: jdbc:x://h/db?user=u&password=ab12", "u: jdbc:x://h/db?user=u&password=***"),
        ("compose.yml", "      - MYSQL_PASSWORD=hunter2", "      - MYSQL_PASSWORD=***"),
        ("compose.yaml", "X: {API_KEY: k-9182, PORT: 1}", "X: {API_KEY: ***, PORT: 1}"),
        ("compose.yaml", "U: postgres://app:pa/ss1@db/x", "U: postgres://app:***@db/x"),
        ("a.properties", "spring.datasource.password=abcd", "spring.datasource.password=***"),
        ("a.properties", "nexusPassword = pa ss1, wörd", "nexusPassword = ***"),
        ("a.ini", "api_key=k9182", "api_key=***"),
        ("a.json", '{"token": "t-9182", "a": 1}', '{"token": ***, "a": 1}'),
        ("a.json", '"secretKeyBase":"' + HEX + '",', '"secretKeyBase":***,'),
        ("a.json", '"D": "User Id=sa;Password=Tr0ub4dor;"', '"D": "User Id=sa;Password=***;"'),
        ("a.json", '"password": 123456', '"password": ***'),
        ("a.toml", "token = 'pat-77'", "token = ***"),
        ("settings.xml", "<password>pw77</password>", "<password>***</password>"),
        ("a.config", '<a key="Pwd" value="pw77"/>', '<a key="Pwd" value="***"/>'),
        ("a.yml", "+  password: s3cr3t", "+  password: ***"),
        ("a.py", f"SECRET_KEY = '{HEX}'", "SECRET_KEY = '***'"),
        ("a.ts", f'const apiKey: string = "{RANDOM}";', 'const apiKey: string = "***";'),
        ("a.php", f"define('AUTH_KEY', '{RANDOM}');", "define('AUTH_KEY', '***');"),
        ("a.go", 'dsn := "mysql://app:S3cr3tPw9@h/d"', 'dsn := "mysql://app:***@h/d"'),
    ],
)  # fmt: skip
def test_a_secret_setting_is_masked(path: str, text: str, expected: str) -> None:
    assert masked_text(path, text) == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.yml", "password: ${DB_PASSWORD}"),
        ("a.yml", "password: $DB_PASSWORD"),
        ("a.yml", "token: ${{ secrets.GITHUB_TOKEN }}"),
        ("a.yml", "password: {{ .Values.password }}"),
        ("a.yml", "password: !Ref DbPassword"),
        ("a.yml", "password: |"),
        ("a.yml", "password:"),
        ("a.yml", "password: ''"),
        ("a.yml", "secret: db-credentials"),
        ("a.yml", "token: csrf-token"),
        ("a.yml", "max_tokens: 4096"),
        ("a.yml", "token: 4096"),
        ("a.yml", "password_min_length: 12"),
        ("a.yml", "password_file: /run/secrets/db"),
        ("a.yml", "private_key: ./certs/server.pem"),
        ("a.yml", "token: https://example.com/oauth/token2"),
        ("a.yml", "# the password: see the wiki of the team"),
        ("a.yml", "password: {type: string}"),
        ("openapi.json", '"password": {"type": "string"}'),
        ("openapi.json", '"password": "string"'),
        ("package.json", '"@octokit/auth-token": "^4.0.0"'),
        ("package.json", '"js-tokens": "^4.0.0", "keyv": "4.5.3"'),
        ("package.json", '"parse-passwd": "^1.0.0"'),
        ("a.py", "target = 'pypi-trusted-publishing-gitlab'"),
        ("uv.lock", 'url = "https://files.example.org/' + "ab12Cd34/" * 10 + 'x.whl"'),
        ("package-lock.json", '"integrity": "sha512-' + RANDOM * 3 + '=="'),
        ("a.kt", f'line("{BEGIN}")\nlines(pkcs1Bytes(key))\nline("{END}")'),
        ("a.js", f"const pem = `{BEGIN}\\n${{encoded}}\\n{END}`"),
        ("messages.json", '"password": "Passwort"'),
        ("messages.json", '"password": "Mot de passe :", "token": "Jeton"'),
        ("messages.json", '"password": "パスワード"'),
        ("src/locales/de.json", '"password": "hunter2"'),
        ("a.xml", '<string name="password">Password</string>'),
        ("a.toml", "key = 'value-1'"),
        ("a.py", "token = parser.next()"),
        ("a.py", "password = 'hunter2'"),
        ("a.py", "def login(password: str, token: str = 'abc123') -> None:"),
        ("a.ts", "interface User { password: string; token?: string }"),
        ("a.py", "assert parse('http://user:pass@example.com/').password == 'pass'"),
        ("a.py", 'URL = f"postgres://{user}:{password1}@{host}"'),
        ("a.py", "SECRET_KEY = os.environ['DJANGO_SECRET_KEY_OF_PRODUCTION_2']"),
        ("a.py", "token = 'com.example.authentication.tokens.RefreshToken'"),
        ("a.py", f"DIGEST = '{HEX}'"),
        ("a.js", "const keys = ['src/components/AccountSettings/useSettings2.tsx']"),
    ],
)
def test_ordinary_text_stays(path: str, text: str) -> None:
    assert masked_text(path, text) == text


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("prod.auto.tfvars.json", True), (".yarnrc.yml", True), (".env~", True),
        ("config/env.production", True), ("home/.my.cnf", True), ("kubeconfig", True),
        ("ci/prod.kubeconfig.yaml", True), ("gcp/service-account.json", True),
        ("shop-firebase-adminsdk-x1.json", True), ("local.settings.json", True),
        ("secrets/db_password", True), ("secrets/db.txt", True), (".secrets", True),
        ("wp-config.php", True), ("vault_pass.txt", True), (".cargo/credentials.toml", True),
        ("secrets/README", False), ("secrets/client.go", False), ("secrets/index.ts", False),
        ("env.ts", False), ("env.local.ts", False), ("locales/en/auth.json", False),
        ("5c394b4860:.npmrc", True), ("5c394b4860:wp-config.php", True),
        ("settings.json", False), ("account.json", False), ("vault_passthrough.go", False),
    ],
)  # fmt: skip
def test_names_of_files_say_that_all_values_are_secret(path: str, expected: bool) -> None:
    assert has_secret_values(path) is expected


def test_hostile_text_costs_linear_time() -> None:
    script = (
        "import resource; resource.setrlimit(resource.RLIMIT_CPU, (20, 20))\n"
        "from codelens.secret_files import masked_text\n"
        "for text in 'password', 'a-', 'secret:', 'key=\"token\" ', '<password', '://a:', 'x@':\n"
        "    masked_text('a.yml', text * 20_000 + '@://')\n"
        "    masked_text('a.py', text * 20_000 + '@://')\n"
    )
    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
