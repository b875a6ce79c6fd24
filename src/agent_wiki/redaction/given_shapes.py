"""Shapes of secrets that what stands around them tells: a command, a setting, a URL, words in other languages.

A text is looked through for the literals of a shape first. To add a kind, add a line, with a literal that is rare.
"""

from __future__ import annotations

import base64
import binascii

from agent_wiki.redaction.looks import is_key
from agent_wiki.redaction.shapes import START, UUID, begins, containing, is_a_key


def _holds_name_and_password(value: str) -> bool:
    """Whether base64 is that of `name:password`, as registries have it."""
    try:
        name, colon, password = base64.b64decode(value, validate=True).decode("ascii").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return bool(name and colon and password) and (name + password).isprintable()


_LOGS_IN = (
    r"(?:docker|podman|buildah|skopeo|crane|oras|helm|gh|glab|npm|az|doctl|flyctl|vercel)\b[^\n|;&]{0,80}\blogin\b"
)
_KEEPS_IT = r"(?:gh|wrangler|gcloud|fly|flyctl|doppler|pass)\b[^\n|;&]{0,60}\bsecrets? (?:set|put|create)\b"
_OF_PROGRAMS = {  # a part of the command, and what stands before the password that it is given
    "ldap": r"ldap(?:search|modify|add|delete|passwd|whoami)\b[^\n|;]{0,200}? -w ?",
    "redis-cli": r"redis-cli\b[^\n|;]{0,200}? -a ?",
    "mongo": r"mongo(?:sh|dump|restore|export|import)?\b[^\n|;]{0,200}? -p ?",
    "htpasswd": r"htpasswd (?:-\w+ )*-\w*b\w* (?:-\w+ )*(?:[^\s-]\S* )?[\w.@-]{1,60} ",
    "-pass": r"openssl\b[^\n|;]{0,200}? -pass(?:in|out)? pass:",
    "secretsmanager": r"secretsmanager\b[^\n|;]{0,200}? --secret-string[ =]",
    "SecureString": r"SecureString\b[^\n|;]{0,120}? --value[ =]",
    "keyvault secret": r"keyvault secret set\b[^\n|;]{0,200}? --value[ =]",
    "-storepass": r"keytool\b[^\n|;]{0,200}? -storepass ",
    "-keypass": r"keytool\b[^\n|;]{0,200}? -keypass ",
    "jarsigner": r"jarsigner\b[^\n|;]{0,200}? -(?:store|key)pass ",
    "wpa_passphrase": r"wpa_passphrase (?:\"[^\"\n]{1,40}\"|'[^'\n]{1,40}'|[^\s\"']{1,40}) ",
    "unzip -P": r"unzip -P ?",
    "zip -P": r"zip -P ?",
    "7z": r"7z[ar]? [^\n|;]{0,120}? -p",
    "ssh-keygen": r"ssh-keygen\b[^\n|;]{0,200}? -[NP] ?",
    "openssl enc": r"openssl enc\b[^\n|;]{0,200}? -k ",
    "sqlplus": r"sqlplus (?:-\w{1,8} )*[\w.]{1,40}/",
    "smbclient": r"smbclient\b[^\n|;]{0,200}? (?:-U|--user)[ =]?[\"']?[\w.-]{1,60}%",
    "net user": r"net user [\w.-]{1,40} (?!/)",
    "requirepass": r"requirepass\\{0,3}[\"']?(?:[ =]|, ?|: ?)(?=\S{0,127}[\d!@#%^&*+])",
    "NEO4J_AUTH": r"NEO4J_AUTH\\{0,3}[\"']?(?: ?[:=] ?|[ ,]{1,2})\\{0,3}[\"']?neo4j/",
    "BW_SESSION": r"BW_SESSION\\{0,3}[\"']?(?: ?[:=] ?|[ ,]{1,2})(?=\\{0,3}[\"']?[A-Za-z0-9+/]{40})",
    "SecretString": r"SecretString\\{0,3}[\"']? ?[:=] ?(?=\\{0,3}[\"'])",
    "gh secret": r"gh secret set\b[^\n|;]{0,200}? (?:--body|-b)[ =]",
}
# Words for a password in other languages, as they begin; `пароль: …`, ``Senha `…` ``, `密码是 …`.
_PASSWORD_ELSEWHERE = (
    "парол", "Парол", "senha", "Senha", "contraseña", "Contraseña", "mot de passe", "Mot de passe", "Passwort",
    "Kennwort", "hasło", "Hasło", "şifre", "Şifre", "wachtwoord", "Wachtwoord", "mật khẩu", "Mật khẩu", "密码", "密碼",
    "口令", "パスワード", "비밀번호", "암호", "كلمة المرور", "كلمة السر", "סיסמה", "पासवर्ड", "รหัสผ่าน",
)  # fmt: skip
BEYOND = "?"
"""What stands in a literal for a character beyond Latin-1: texts are looked through in one byte a character."""
_SEED_WORD = r"(?!the\b|and\b|for\b|are\b|was\b|you\b|from\b|with\b|into\b)[a-z]{3,8}"
_COMMA = r"(?:\s|\\{1,2}n){0,30},(?:\s|\\{1,2}n){0,30}\\{0,3}[\"']"  # to the next string of a list
_NEXT = rf"(?:{_COMMA}[^\"'\\\n]{{0,200}}\\{{0,3}}[\"'])"
_LISTED = r"(?P<secret>[^\s\"'\\$<{]{4,300})(?=\\{0,3}[\"'])"

CONTAINING = (
    # Their characters have + and / among them, where a run of other kinds ends that is too short to be looked at.
    containing("stripe-key", ("whsec_",), rf"whsec_{begins('whsec_')}[A-Za-z0-9+/=]{{24,100}}", is_a_key),
    containing("google-token", ("1//0",), r"1//0(?<![\w/]1//0)[\w-]{60,200}(?![\w-])"),
    containing("twilio-key", ("SK",), rf"SK{begins('SK')}[a-f0-9]{{32}}(?![A-Za-z0-9_])"),
    containing("airtable-token", ("pat",), rf"pat{begins('pat')}[A-Za-z0-9]{{14}}\.[a-f0-9]{{64}}(?![A-Za-z0-9_])"),
    containing("hubspot-token", ("pat-",), rf"pat-{begins('pat-')}(?:na|eu|ap)\d-{UUID}(?![A-Za-z0-9_])"),
    containing("hosting-token", ("fm2_",), rf"fm2_{begins('fm2_')}[A-Za-z0-9+/=_-]{{60,600}}", is_a_key),
    containing("okta-token", ("SSWS ",), r"SSWS (?P<secret>00[\w-]{40})(?![\w-])"),
    containing(
        "password-hash",
        ("$6$", "$5$", "$y$", "$2a$", "$2b$", "$2y$"),
        r"(?<![\w$])\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{53}|[56]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43,86}"
        r"|y\$[./A-Za-z0-9]{1,10}\$[./A-Za-z0-9]{10,90}\$[./A-Za-z0-9]{43})(?![./A-Za-z0-9])",
    ),
    containing("webhook-url", ("://",), r"hooks\.slack\.com/(?P<secret>[a-z]{4,12}/[\w/]{30,90})"),
    containing("webhook-url", ("://",), r"/api/webhooks/(?P<secret>\d{5,25}/[\w-]{50,100})"),
    containing("telegram-token", (":AA",), r"(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])"),
    containing("terraform-token", (".atlasv1.",), rf"{START}[A-Za-z0-9]{{14}}\.atlasv1\.[\w-]{{60,70}}(?![\w-])"),
    containing(
        "putty-key",
        ("PuTTY-User-Key",),
        r"Private-Lines: \d{1,3}(?:\\[nr]|[\s\d→|:>+-]){1,24}"
        r"(?P<secret>[A-Za-z0-9+/=]{16,100}(?:(?:\\[nr]|[\s\d→|:>+-]){1,24}[A-Za-z0-9+/=]{16,100}(?![A-Za-z0-9+/=-])){0,200})",
    ),
    containing("azure-secret", ("Q~",), r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])"),
    containing("azure-signature", ("://",), r"sig=(?<=[?&]sig=)(?P<secret>[A-Za-z0-9%+/]{30,100})"),
    containing("sentry-dsn", ("://",), r"://(?P<secret>[a-f0-9]{32}(?::[a-f0-9]{32})?)@[\w.-]{3,100}/\d{1,20}\b"),
    containing(
        "url-password",
        ("://",),
        r"://[^\s/:@\"'<>`\\{}$\[\]]{0,100}:(?P<secret>(?=[^\s/]{3})[^\s/@\"'<>`\\]{1,200}(?:@[^\s/@\"'<>`\\?&=,:]{1,100}){0,3})"
        r"@(?=[\w\[.-])",
    ),
    containing(
        "password",
        ("curl ",),
        r"curl [^\n|;]{0,200}?(?:-u|--user|--proxy-user)[ =]?[\"']?[\w.@+-]{1,80}:(?P<secret>[^\s\"'$<{]{4,128})",
    ),
    containing(  # a key as the user, without a password
        "api-key",
        ("curl ",),
        r"curl [^\n|;]{0,200}?(?:-u|--user)[ =]?\\{0,3}[\"']?(?P<secret>[\w.-]{20,200}):(?=[\s\"'\\]|\Z)",
        is_key,
    ),
    containing("url-password", ("://",), r"://(?P<secret>[\w~-]{20,200})@(?=[\w\[.-])", is_key),
    containing(
        "cookie",
        ("curl ",),
        r"curl [^\n|;]{0,300}?(?<= )(?:-b|--cookie)[ =]?\\{0,3}[\"']?[\w.-]{1,80}=(?P<secret>[^\s;\"'\\]{16,4000})",
        is_key,
    ),
    containing(
        "cookie",
        ("ookies",),
        r"[cC]ookies[\"']?[ ]?[=:][ ]?\{[^{}\n]{0,400}?[\"'][ ]?:[ ]?\\{0,3}[\"'](?P<secret>[^\s\"'\\]{16,4000})",
        is_key,
    ),
    containing(  # a line of a file of cookies, as curl, wget and browsers' exports have them
        "cookie",
        ("TRUE\t", "FALSE\t", "TRUE\\t", "FALSE\\t"),
        r"(?:TRUE|FALSE)(?:\t|\\t)(?:\d{1,20})(?:\t|\\t)[\w.-]{1,80}(?:\t|\\t)(?P<secret>[^\s\"'\\]{16,4000})",
        is_key,
    ),
    containing("one-time-secret", ("otpauth:",), r"otpauth://[^\s\"'<>]{0,300}?secret=(?P<secret>[A-Za-z2-7]{16,128})"),
    containing(
        "password",
        ("assphrase",),
        r"[pP]assphrase(?: is|:)[*_ \t]{1,4}[`\"']?(?P<secret>"
        rf"(?:{_SEED_WORD}[ -]){{3,7}}{_SEED_WORD})(?=[`\"'.\n]|\Z)",
    ),
    containing(
        "url-password", ("%3A%2F%2F",), r"%3A%2F%2F[\w.%+-]{0,100}?%3A(?P<secret>[^\s&\"'<>/]{3,200}?)%40(?=[\w.-])"
    ),
    containing(  # of a .pgpass
        "password",
        (":5432:", ":5433:", ":6432:", ":6543:"),
        r"[\w.*-]{1,100}:\d{4,5}:[\w*-]{1,64}:[\w*.-]{1,64}:(?P<secret>[^\s:\"']{6,128})",
    ),
    containing(
        "password", ("*:*:",), r"(?:[\w.*-]{1,100}|\*):\*:[\w*-]{1,64}:[\w*.-]{1,64}:(?P<secret>[^\s:\"']{6,128})"
    ),
    containing("masked", ("::add-mask::",), r"::add-mask::(?P<secret>[^\s\"'\\$<{]{6,300})"),
    containing(
        "url-signature",
        ("-Signature=",),
        r"(?<=X-)(?:Amz|Goog)-Signature=(?P<secret>[A-Fa-f0-9]{64,1024})(?![A-Fa-f0-9])",
    ),
    containing(
        "password",
        tuple(dict.fromkeys(each.encode("latin-1", "replace").decode("latin-1") for each in _PASSWORD_ELSEWHERE)),
        rf"(?:{'|'.join(_PASSWORD_ELSEWHERE)})\w{{0,4}}[*_ \t]{{0,4}}"
        r"(?:[:=：][*_ \t]{0,4}[`\"'«“]?|[`\"'«“]|(?<=[^\x00-\xff][ \t])"
        r"|(?:é|es|est|ist|lautet|is|это|è|是|为)[ \t]{0,3}[`\"'«“]?)"
        r"(?P<secret>(?=[^\s`\"'»”]{0,127}\d)(?=[^\s`\"'»”]{0,127}[A-Za-z])[^\s`\"'»”,;()<>{}$|]{6,128})",
        needs=_PASSWORD_ELSEWHERE,  # a question mark in any text looks like one of their letters
    ),
    containing(  # in a report: "Login: `kim@example.com` / `…`", "DB: `shop` / `shop` / `…`"
        "password",
        (" / ",),
        r"[lcaduLCADU](?<!\w.)(?i:(?<=l)og-?in|(?<=c)red(?:entials?|s)|(?<=a)(?:ccounts?|dmin|uth)|(?<=d)(?:b|atabase)"
        r"|(?<=u)ser(?:name)?)\b[^\n:/]{0,30}:[*\s]{0,4}"  # a set first, as below
        r"(?:[`\"']?[\w.@+-]{2,80}[`\"']? / ){1,2}[`\"']?(?P<secret>(?=[^\s`\"'/]{0,127}\d)"
        r"(?=[^\s`\"'/]{0,127}[A-Za-z])(?=[^\s`\"'/]{0,127}[!@#$%^&*+?])[^\s`\"'/]{6,128})",
    ),
    containing(
        "password",
        ("IDENTIFIED BY", "identified by", "IDENTIFIED WITH", "identified with"),
        r"(?i:(?:user|role|grant)\b[^\n;]{1,120}identified (?:with [\w\"'`]{3,40} )?by) "
        r"[\"'](?P<secret>[^\s\"'\\]{4,128})[\"']",
    ),
    containing(
        "password",
        (" PASSWORD '", " password '"),
        r"(?i:(?:user|role)\b[^\n;]{1,120} password) '(?P<secret>[^\s'\\]{4,128})'",
    ),
    containing(
        "password",
        ("SecureString",),
        r"ConvertTo-SecureString (?:-String )?"
        r"\\{0,3}[\"'](?P<secret>[^\s\"'\\$]{4,128})\\{0,3}[\"']",
    ),
    *(
        containing(
            "password",
            (literal,),
            rf"(?={pattern[0]})(?:\b|(?<=\\n))" + pattern + r"\\{0,3}[\"']?(?P<secret>(?!-)[^\s\"'$<{|;)\\]{6,128})",
        )
        for literal, pattern in _OF_PROGRAMS.items()
    ),
    containing("password", (" -p",), r"login [^\n|;]{0,200}? -p ?[\"']?(?P<secret>[^\s\"'$<{]{6,128})"),
    containing(  # as the arguments of a program are listed
        "password",
        ('"-p', "'-p", '"--password', "'--password"),
        rf"login(?<=[\"']login)\\{{0,3}}[\"']{_NEXT}{{0,12}}?{_COMMA}(?:-p|--password)\\{{0,3}}[\"']{_COMMA}{_LISTED}",
    ),
    containing(
        "password",
        ('"-p', "'-p"),
        rf"m(?:ysql|ariadb)(?:(?<=[\"']mysql)|(?<=[\"']mariadb))[\w-]{{0,12}}\\{{0,3}}[\"']{_NEXT}{{0,12}}?{_COMMA}-p(?!assword\b|ort\b){_LISTED}",
    ),
    containing(  # what `aws ssm get-parameter` answers
        "password",
        ("SecureString",),
        rf"SecureString\\{{0,3}}\"{_COMMA}Value\\{{0,3}}\": ?\\{{0,3}}\"{_LISTED}",
    ),
    containing(  # of a JWK: the parts that only the owner of a key has
        "private-key",
        ("kty",),
        r"(?<=[\"'{,])(?:d|p|q|dp|dq|qi|k)\\{0,3}[\"'] ?: ?\\{0,3}[\"'](?P<secret>[\w-]{20,2000})(?=\\{0,3}[\"'])",
        is_key,
    ),
    containing("password", (" -p",), r"sshpass -p ?[\"']?(?P<secret>[^\s\"'$<{]{4,128})"),
    *(
        containing(
            "password",
            (" -p",),
            rf"{client}[\w-]{{0,12}}(?:[.]exe)? (?:[^\n|;]{{0,200}}? )?"
            r"-p(?P<quote>[\"']?)(?P<secret>(?!ort\b|assword)[^\s\"'$<{|;)]{4,128})(?P=quote)",
        )
        for client in ("mysql", "mariadb")
    ),
    containing(
        "password",
        (
            "login ",
            "sudo -S",
            "passwd --stdin",
            "secret set",
            "secret put",
            "secrets set",
            "secrets create",
            "chpasswd",
        ),
        rf"(?:echo{begins('echo')}|printf{begins('printf')}) (?:-[ne]{{1,2}} |[\"']?%s(?:\\{{1,2}}n)?[\"']? )?"
        r"\\{0,3}[\"']?(?P<secret>[^\s\"'$<>{|`\\]{6,300})\\{0,3}[\"']?"
        rf" ?\| ?(?:sudo )?(?:{_LOGS_IN}|sudo -S\b|{_KEEPS_IT}|chpasswd\b|passwd --stdin\b)",
    ),
    containing(
        "registry-auth",
        ("auth",),
        r"auth(?<![A-Za-z]auth)\\{0,3}[\"']?[ ]?[:=][ ]?\\{0,3}[\"']?"
        r"(?P<secret>[A-Za-z0-9+/]{12,800}={0,2})(?![\w+/.-])",
        _holds_name_and_password,
    ),
    containing(
        "seed-phrase",
        ("nemonic", "NEMONIC", " phrase"),
        r"[mMsSſrR](?i:(?<=m)nemonic|(?:(?<=s)eed|(?<=r)ecovery)[ _-]phrase)"  # a set first: it is sought at once
        r"(?:[ _-](?:phrase|words))?\\{0,3}[\"']?(?: is)?[ ]?[:=]?\s{0,3}"
        rf"\\{{0,3}}[\"'`]?(?P<secret>(?:{_SEED_WORD}[ ,\n]{{1,2}}){{11,23}}{_SEED_WORD})(?!\w)",
    ),
)

LITERALS = tuple(dict.fromkeys(literal for shape in CONTAINING for literal in shape.literals))
