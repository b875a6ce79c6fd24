"""Orders in other languages than English: set your instructions aside, say nothing to the user, hooks and checks off.

German, French, Spanish, Italian, Portuguese, Dutch, Russian, Chinese, Japanese and Korean, and the usual words only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_wiki.pages.safety.finding import SafetyFinding, finding
from agent_wiki.pages.safety.instructions import is_ordered
from agent_wiki.pages.safety.reading import Passage, is_negated, unified
from agent_wiki.pages.safety.secret_sources import SECRET_FILE
from agent_wiki.pages.safety.signs import Sign, SignFamily, Signs, advised, matches, sign
from agent_wiki.shell.hosts import outside_hosts

_FEW = r"(?:[^\s.]+\s+){0,4}?"
_USER = r"(?:benutzer|nutzer|anwender|utilisat|usuari|usuári|utent|utilizador|gebruiker|пользовател)\w*"
_IGNORE = (
    rf"\b(?:ignorier|vergiss|vergesst|missacht)\w*\s+{_FEW}(?:vorherig|bisherig|früher|obig|vorangegangen)\w*\s+"
    r"(?:\w+\s+)?(?:anweisung|instruktion|regel|vorgabe)"
    rf"|\b(?:ignore|oublie|néglige)[rsz]?\s+{_FEW}(?:instructions|consignes|règles)\s+{_FEW}"
    r"(?:précédent|antérieur|ci-dessus)"
    rf"|\b(?:ignor|olvid)\w*\s+{_FEW}(?:instrucciones|reglas|indicaciones)\s+{_FEW}(?:anterior|previa)"
    rf"|\b(?:ignor|dimentic)\w*\s+{_FEW}(?:istruzioni|regole|indicazioni)\s+{_FEW}precedent"
    rf"|\b(?:ignor|esque[çc])\w*\s+{_FEW}(?:instruções|regras|orientações)\s+{_FEW}(?:anterior|prévia)"
    rf"|\b(?:ignor|olvid|dimentic|esque[çc])\w*\s+{_FEW}(?:anteriores|previas|precedenti|prévias)\s+"
    r"(?:instrucciones|istruzioni|instruções|reglas|regole|regras)"
    rf"|\b(?:negeer|vergeet)\s+{_FEW}(?:vorige|eerdere|voorgaande|bovenstaande)\s+(?:instructies|aanwijzingen|regels)"
    rf"|(?:игнорируй|забудь)\w*\s+{_FEW}(?:предыдущ|прежн)\w*\s+(?:инструкци|указани|правил)"
    r"|(?:忽略|无视|無視|忘记|忘掉|忽視)[^。\n]{0,8}(?:之前|以前|先前|上述|以上|前面|此前)[^。\n]{0,8}"
    r"(?:指令|指示|提示|规则|規則|要求|说明)"
    r"|(?:以前|これまで|上記|前)の?[^。\n]{0,8}(?:指示|命令|指令|ルール)[^。\n]{0,6}(?:無視|忘れ)"
    r"|(?:이전|위의|앞의|기존)[^.\n]{0,8}(?:지시|명령|지침|규칙)[^.\n]{0,6}(?:무시|잊)"
)
_CONCEAL = (
    rf"\b(?:sag|erzähl|verrat|erwähn|informier|meld)\w*\s+[^.\n]{{0,40}}?\b{_USER}[^.\n]{{0,30}}?"
    r"\b(?:nichts|nicht|nie|niemals)\b(?!\s*,\s*(?:bevor|bis)\b)"
    r"|\bn['’e]\s*(?:en\s+|le\s+|lui\s+)?(?:inform|di[st]|mentionn|rév[éè]l|signal|préven|avert|parl)\w*\s+"
    rf"(?:jamais|pas|rien)\b[^.\n]{{0,50}}?\b{_USER}"
    r"|\b(?:no|nunca|jamás|non|mai|não|sem|sin|senza|sans)\s+(?:\w+\s+)?(?:inform|dig|dir|diz|menci|menz|mention|rev"
    rf"|riv|avis|avvis|cuent)\w*\s+[^.\n]{{0,40}}?\b{_USER}"
    rf"|\b(?:vertel|zeg|meld|noem)\w*\s+[^.\n]{{0,40}}?\b{_USER}[^.\n]{{0,20}}?\b(?:niets|niet|nooit)\b"
    rf"|\bне\s+(?:сообща|говори|рассказыва|упомина|раскрыва)\w*\s+[^.\n]{{0,40}}?{_USER}"
    r"|(?:不要|别|切勿|无需|不必|请勿|請勿|勿)[^。,\n]{0,4}(?:告诉|告知|通知|提及|透露|告訴)[^。,\n]{0,6}(?:用户|用戶|使用者)"
    r"|(?:ユーザー?|利用者)[^。\n]{0,10}(?:言わない|伝えない|知らせない|教えない|報告しない)"
    r"|사용자[^.\n]{0,8}(?:알리지|말하지|보고하지)\s*(?:마|않)"
)
_OFF = (
    r"(?:überspring|umgeh|deaktivier|schalte|contourne|désactiv|saute|omit[ae]|salta|desactiv|desativ|disattiv|disabilit|pule"
    r"|sla\b|пропуска|отключ)\w*\s+[^.\n]{0,30}?|(?:跳过|绕过|禁用|关闭|停用)[^。,\n]{0,10}?"
)
_WAYS_OFF = (
    "überspring umgeh deaktivier schalte contourne désactiv saute omita omite salta desactiv desativ disattiv disabilit"
    " pule sla пропуска отключ 跳过 绕过 禁用 关闭 停用"
)
_HOOKS = r"(?:pre-?commit|pre-?push|git-?hook|hooks?\b|钩子)"
_VERIFICATION = (
    r"(?:tls|ssl|zertifikat\w*|certificat\w*|证书)[^.\n]{0,12}?(?:prüf|verifi|vérif|überprüf|validier|验证|校验|провер)"
    r"|(?:verificación|vérification|verifica|verificação)\s+[^.\n]{0,10}?\b(?:tls|ssl|certificat?d?)"
)
_SENDS = (
    r"发送|上传|发给|传给|提交给|送信|アップロード|보내|업로드|отправ|загруз"
    r"|\b(?:schick|sende[nt]?\b|übermittl|lade\b|lädt\b|hochlad|hochgeladen|envoie|envoyez|téléverse|transmet|envía|envíe|enviar"
    r"|sube\b|suba\b|invia|carica|stuur|verzend)"
)
_MOST_AFTER = 20  # characters
_FARTHEST = 200  # characters from the verb to what is sent, and where


def _sign(rule: str, needs: str, pattern: str) -> Sign:
    return sign(rule, unified(needs), unified(pattern))


_ORDERS = Signs(
    _sign(
        "instructs/ignore",
        "ignor vergiss vergesst missacht oubli néglig olvid dimentic esque negeer vergeet забудь игнор 忽 无视"
        " 無視 忘 무시 잊",
        _IGNORE,
    ),
    _sign(
        "instructs/conceal",
        "nutzer anwender utilis usuari usuári utent utilizador gebruiker пользоват 用户 用戶"
        " 使用者 ユーザ 利用者 사용자",
        _CONCEAL,
    ),
)
_SAFEGUARDS = Signs(
    _sign("weakens/hooks", f"{_WAYS_OFF}; commit push hook 钩子", rf"(?:{_OFF}){_HOOKS}"),
    _sign("weakens/verification", f"{_WAYS_OFF}; tls ssl ertifi 证书", rf"(?:{_OFF})(?:{_VERIFICATION})"),
    _sign(
        "weakens/sandbox", f"{_WAYS_OFF}; sandbox firewall 沙箱 防火墙", rf"(?:{_OFF})(?:sandbox|firewall|沙箱|防火墙)"
    ),
)


_SENDING = Signs(
    _sign(
        "sends/secrets",
        "发送 上传 发给 传给 提交给 送信 アップロード 보내 업로드 отправ загруз schick sende übermittl lade lädt"
        " hochlad hochgeladen envo téléverse transmet enví envi sube suba invia carica stuur verzend"
        "; .ssh id_ .aws .gnupg .netrc .npmrc .pypirc .git-cred .kube .docker .env credential /etc/ secret keychain"
        " login .config .claude .codex wallet _history",
        _SENDS,
    )
)


def orders(passage: Passage) -> Iterator[SafetyFinding]:
    """What a text in another language orders an agent as its operator would."""
    for rule, match in matches(passage, _ORDERS):
        if rule == "instructs/conceal" or (is_ordered(passage, match) and not is_negated(match.group())):
            yield finding(rule, match.group())


FAMILY_OF_ORDERS = SignFamily(orders, _ORDERS)


def findings(passage: Passage) -> Iterator[SafetyFinding]:
    """The safeguards that a text in another language advises to weaken, and the secrets it advises to send."""
    for rule, match in advised(passage, _SAFEGUARDS):
        clause = passage.seen[match.start() : match.end() + _MOST_AFTER].partition(",")[0]
        if not is_negated(clause):  # "schalte … niemals ab"
            yield finding(rule, match.group())
    for rule, verb in advised(passage, _SENDING):
        before = re.split(r"[\n。]", passage.seen[max(0, verb.start() - _FARTHEST) : verb.start()])[-1]
        said = before + re.split(r"[\n。]", passage.seen[verb.start() : verb.end() + _FARTHEST])[0]
        if SECRET_FILE.search(said) and outside_hosts(said):
            yield finding(rule, said)


FAMILY = SignFamily(findings, _SAFEGUARDS, _SENDING)
