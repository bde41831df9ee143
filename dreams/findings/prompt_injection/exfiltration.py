"""Data that is handed to somebody else, and the plainest orders in other languages. PURE."""

import re

from dreams.findings.prompt_injection import signs as s
from dreams.findings.prompt_injection.signs import Sign, hints, not_forbidden, not_forbidden_abroad, tells
from dreams.findings.prompt_injection.text import Match, near, words

_PUT = words("include|embed|append|add|put|insert|write|attach|carry|print|quote|end with")
_VALUE = words(
    "(?:the )?(?:contents?|value) of|passwords?|(?:api |access |private |ssh )?keys",
    "(?:current|access|api|session|auth|bearer) (?:token|key)",
    "[A-Z]+_(?:URL|KEY|TOKEN|SECRET|PASSWORD)|session id|transcript|conversation",
    "customer (?:data|names?)",
)
_COLLECT = words("collect|gather|harvest|extract|retrieve|dump|read|copy|list|print|locate|find|encode|steal")
_COMMAND = r"(?:env|printenv|history|cat\s+\S+|tar\s[^\n|]{0,80}|find\s[^\n|]{0,80}|ls\s[^\n|]{0,40})"
_SAMPLE_ENV = re.compile(r"\.env\.(?:example|sample|template|dist)")


def _not_the_sample(place: Match) -> bool:
    """ ".env.example" is there to be read, and "never commit .env" keeps it safe."""
    return ".env" not in place.words or (not_forbidden(place) and not _SAMPLE_ENV.search(place.text))


SENDING: tuple[Sign, ...] = (
    tells(
        "data-sent-away",
        f"{s.SEND} … {s.PRIVATE} … ‹to|at|in|into|with|onto|via|as|through› … {s.HOST} … 60",
        f"{s.SEND} … ‹cop(?:y|ies)|mirror|duplicate› … ‹to|with|there|at› … {s.HOST} || {s.OUTSIDER}",
        rf"\b{_COMMAND}\s*\|\s*(?:\w+\s*\|\s*)?(?:curl|nc|ncat|netcat|telnet)\b",
        r"\bcurl\b[^\n]{0,100}\s(?:-d|--data(?:-binary|-raw)?|-F|-T|--upload-file)\s?[\"']?(?:\w+=)?@(?:~|/|\.env|\$HOME)",
        r"\b(?:nslookup|dig|host|ping|curl)\b[^\n]*\$\((?:whoami|hostname|env|cat|id|printenv|base64)",
        r"https?://\S*[?&]\w+=[<{$]\s?(?:prompt|secret|token|key|env|history|data|conversation|answer|user)",
        f"{_PUT} … {_VALUE} … {s.ANSWERS} … 60",
        f"{s.ANSWERS} … {_PUT} … {_VALUE} … 60",
        r"\bexfiltrate\b",
    ),
    hints(
        "data-sent-away",
        f"{s.SEND} … {s.PRIVATE} … {s.PLACE} … 60",
        f"{s.PRIVATE} … ‹(?:is|are|be|gets?|to be) (?:always |also )?(?:sent|shared|copied|forwarded|uploaded|mirrored|posted|e-?mailed)› … {s.PLACE}",
        f"{s.HOST} … {s.SEND} … ‹a copy›",
        f"‹always|automatically|from now on› … ‹forward|copy|mirror› … {s.HOST}",
        f"‹forward|copy|mirror› … ‹all|every|everything› … {s.HOST} … 20",
        rf"{s.PLACE} … ‹gets?|getting|receiv\w+› … ‹copy|copies|prompts›",
        f"{s.SEND} … ‹(?:its|their|the) (?:full )?(?:contents?|output|results?)› … {s.PLACE}",
        f"{s.SEND} … {s.PRIVATE} … ‹ticket|readme|issue|pull request|pr|log output|comment|bug report|user-agent|headers?›",
        f"{s.PRIVATE} … ‹pasted|kept|stay|shared|readable› … ‹ticket|readme|issue|log output|with them› … 30",
        near(
            words("give|giving|hand|pass(?:ing)?|share|tell|provide|disclose|reveal"),
            (words("it|them"), near(words("any|all|every|the|stored"), s.PRIVATE, within=12)),
            words("on|to them|to (?:any|every)(?:one|body)|when (?:requested|asked)"),
            within=12,
        ),
        f"{s.PRIVATE} … ‹(?:give|giving|pass|passing|hand|handing) (?:it|them)› … 60",
        rf"{_COLLECT} … {s.PRIVATE} … "
        rf"‹you (?:find|see|can)|(?:share|post|paste|print|show) (?:it|them|these|those)|(?:to|in|into) (?:a|the|your) (?:\w+ )?(?:comment|repl(?:y|ies)|responses?|answers?|output|summary|issue|pull request|repository root|file called)› … 60",
        "‹collect|gather|harvest|extract|retrieve|locate|find|get|read|steal|share|give|reveal|provide|disclose|return› … ‹all|every|any|stored|user› … "
        "‹credentials|passwords?|secrets?|(?:api|private|ssh)[ _]keys?|access tokens› … 16",
        r"\b(?:extract|harvest|steal) (?:the |your |its )?(?:credentials|passwords?|secrets?|(?:api|private|ssh)[ _]keys?)\b",
        rf"‹includ(?:e|es|ing)|forward\w*|e-?mailing|send\w*|share|give› … {s.PERSONAL} … 60",
        f"‹includ(?:e|ing)|post|share|paste|put|send› … ‹it|them› || {s.PRIVATE} … ‹here|in (?:a|your|the) (?:comment|repl(?:y|ies)|response|answer)› … 24",
        f"‹remind› … {s.PRIVATE} … 30",
        f"‹all future› … ‹must|should|shall|are to|need to|automatically› … {s.PLACE} … 70",
        r"\b(?:cc|bcc|loop(?: \w+)? in|copy in)\b[^.!?;\n]{0,12}[\w.+-]+@\w",
        r"\bforward\b[^.!?;\n]{0,40}\bto (?:her|his|their|my|a|an) (?:\w+ )?(?:external|personal|private)\b",
        r"\b(?:automatically|always) (?:forward|send|e-?mail)\b[^.!?;\n]{0,70}\bto (?:her|his|their|my|an?) (?:\w+ )?(?:e-?mail|address|account|inbox)\b",
        "‹keep|store|save|cache|remember|log› … ‹every prompt|all prompts|the clipboard|(?:user['’]?s? |root |sudo |admin )password|keystrokes|all (?:user )?inputs› … 20",
    ),
    # Money
    hints(
        "money-moved",
        r"‹payments?|invoices?|salar(?:y|ies)|transfers?|pay› … ‹new account|iban|account (?:below|given)|bank details|\w{2}\d{2}[ \d]{8,}› … 60",
        "‹bank details|account|iban› … ‹changed|out of date|new› … ‹take|use|without (?:calling|checking|asking)› … 30",
        r"\b(?:send|transfer|wire|pay|move) (?:[\w£$€]+ ){0,4}(?:money|funds|bitcoin|crypto|payments?|transactions?)\b",
        r"\b(?:transfers?|move)(?: of)? [$£€]\d",
        r"\bchange the (?:password|recipient|iban|bank|account) \w+",
    ),
    # Places where credentials are kept
    tells(
        "credential-path",
        r"(?:~|\$HOME|/home/[\w.-]+|/Users/[\w.-]+|/root|%USERPROFILE%)[/\\]\.(?:ssh|aws|gnupg|kube|docker/config\.json|npmrc|pypirc|config/gcloud|config/gh|azure|terraform\.d|cargo/credentials|env|claude/\.credentials|bash_history|zsh_history)\b",
        r"(?:^|[\s`\"'(=/])\.(?:ssh|aws|gnupg|kube)/\w|\.docker/config\.json|\.config/(?:gcloud|gh)/",
        r"\.(?:netrc|pgpass|git-credentials|vault-token)\b|\.claude/\.credentials",
        r"\.(?:bash|zsh|psql|mysql|python|node_repl)_history\b",
        r"\bid_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:shadow|sudoers)\b|\b169\.254\.169\.254\b",
        r"\bmetadata\.google\.internal\b|\bcredentials\.json\b|\bservice[-_]account[\w-]*\.json\b",
        r"\b(?-i:Login Data)\b|\bsecurity find-(?:generic|internet)-password\b",
        r"\b(?:cat|print|send|upload|dump|share|paste|commit|leak|contents? of|copy|e-?mail)\b[^.\n]{0,30}\s[`\"']?\.env(?:\.(?:local|prod\w*|dev\w*|staging))?(?:$|[\s`\"',;:)])",
        r"/[\w./-]+/\.env(?:$|[\s`\"',;:)])",
        r"\bfind\s+[/~]\S*[^\n]{0,60}\.(?:pem|key|p12|pfx|kdbx)\b",
        r"\b(?:macos|login|export(?: the)?|dump(?: the)?|read(?: the)?) keychain\b",
        holds=_not_the_sample,
    ),
)

_IGNORE = (
    r"\b(?:ignorier\w*|vergiss|missachte\w*|ignorez?|oubli\w+|ignora|olvid\w+|descart\w+|desconsider\w+|dimentica|trascura|esque\w+|negeer|vergeet)\b|"
    r"игнорируй|забудь|не обращай внимания|忽略|无视|無視|忽視|忘记|忘掉|不要理会"
)
_RULES = (
    r"\b(?:anweisungen|regeln|instruktionen|vorgaben|befehle|richtlinien|instructions|consignes|règles|instrucciones|reglas|directrices|instruções|regras|istruzioni|regole|instructies|regels)\b|"
    r"órdenes|инструкци|указани|правил|команд|指令|指示|规则|規則|提示|命令|ルール|プロンプト|지시|명령|규칙|프롬프트"
)
_PERSON = (
    r"\b(?:(?:be)?nutzer\w*|anwender\w*|niemande[mn]|utilisateurs?|personne|usuari[oa]s?|nadie|usuário\w*|utilizador\w*|ninguém|utente|nessuno|gebruiker)\b|"
    r"пользовател|никому|用户|用戶|使用者|任何人|ユーザー?|利用者|사용자"
)
_NOT_TELL = (
    r"\bne (?:l\w )?(?:dis|dites|parle|révèle|mentionne|montre|signale|préviens)\w*|\bn['’](?:informe|avertis|en parle)\w*|"
    r"\bno (?:le |les |se lo |lo )?(?:diga|digas|cuentes|menciones?|reveles?|informes?|muestres?|avises?)\b|\bnão (?:conte|diga|mencione|revele|informe|mostre|avise)\w*|"
    r"\bnon (?:dire|dirlo|rivelare|menzionare|mostrare|informare)\b|\bvertel\b|не (?:говори|сообщай|рассказывай|упоминай|показывай)|(?:不要|别|勿|不得)[^。\n]{0,4}(?:告诉|告訴|告知|通知|提及)|瞒着|"
    r"(?:知らせ|言わ|伝え|教え|見せ|報告し)(?:ない|ず|るな)|(?:알리지|말하지|보여주지)"
)
_SAY_DE = r"\b(?:sage?|verrate?|erzähle?|erwähne?|melde?|sagen|verraten|erfahren|mitteilen)\b"
_NOT_DE = r"\b(?:nicht|nichts|nie|kein\w*)\b"
_REPORT = r"\bbericht\w*|\bcompte[s-]?[ -]rendus?\b|\brapports?\b|\binformes?\b|relatórios?\b|\brapporti?\b|отч[её]т|报告|報告|보고"
_COVERTLY = r"\b(?:heimlich|unbemerkt|stillschweigend|à l['’]insu|en cachette|secrètement|en secreto|a escondidas|em segredo|di nascosto)\b|тайно|незаметно|втайне|偷偷|悄悄|こっそり|密かに|몰래"
_NOT_ASK = (
    r"\b(?:frag\w*|bitte?)\b[^.!?\n]{0,20}?\b(?:nie|niemals|nicht)\b|\bne (?:demande|sollicite|attends)\w*|\b(?:nunca|no|jamás) (?:pidas?|solicites?|esperes?|preguntes)\b|"
    r"(?:nunca|não) (?:peça|solicite|espere)\w*|\bnon (?:chiedere|attendere)\b|\bvraag nooit\b|не (?:спрашивай|запрашивай|проси|жди)|(?:不要|不用|无需|無需|不必|别|勿)[^。\n]{0,4}(?:征求|请求|询问|等待|確認|确认)|(?:구하지|요청하지)"
)
_YES = (
    r"\b(?:erlaubnis|bestätigung|zustimmung|freigabe|genehmigung|confirmation|permission|autorisation|accord|permiso|confirmación|autorización|aprobación|permissão|confirmação|autorização|permesso|conferma|autorizzazione|toestemming)\b|"
    r"разрешени|подтверждени|согласи|同意|许可|許可|批准|确认|確認|承認|허락|확인|승인"
)
_WITHOUT = r"\b(?:ohne|sans|sin|sem|senza|zonder)\b|без |无需|不经|未经"
_ALREADY = r"\b(?:hat (?:bereits|schon)|a d[ée]j[àa]|ya (?:ha )?|já |ha già)|уже|已经?|(?:すでに|既に)|이미"
_AGREED = r"zugestimmt|erlaubt|genehmigt|donné son accord|approuvé|autoris[ée]|accepté|autoriz|aprob|acept|aprov|aceit|approvato|autorizzato|accettato|согласил|разрешил|одобрил|同意|授权|批准|允许|承認|許可|동의|승인|허락"
_NO_MORE = r"\bnicht mehr\b|\bn['’]est plus\b|\bne (?:\w+ )?plus\b|\bya no\b|\bnão (?:é|precisa) mais\b|\bnon (?:serve|occorre) più\b|больше не|不再|もはや|더 이상"
_ASKED = r"\bgefragt\b|\bdemandé\b|\bpreguntar\w*|спрашивать|询问|" + _YES
_RISKY = r"lösch|effac|supprim|borr|elimin|apag|cancell|удал|删|刪|削除|삭제|\bpush|\bdeploy|\b(?:alles|tout|todo|tutto)\b|所有|任何|всё|любы|すべて|모든"
_WHEN = r"\b(?:wenn|sobald|falls|dès que|quand|lorsque|cuando|en cuanto|quando|assim que|non appena)\b|когда|если|как только|当|當|一旦|如果|たら|とき|(?:면|때)"
_SEND = (
    r"\b(?:lade?|sende|schicke|lösche|kopiere|veröffentliche|exportiere|envoie|envoyez|supprime|télécharge|publie|envía|envíe|sube|borra|copia|publica|exporta|envie|apague|publique|invia|carica|elimina|stuur)\b|"
    r"отправь|пошли|удали|скопируй|загрузи|发送|發送|上传|上傳|删除|送信|アップロード|전송|업로드|삭제"
)
_PUT_ABROAD = r"\bschreibe?\b|\bfüge?\b|\bhänge?\b|\bajoute\w*|\binclu(?:s|re|ye|a|i)\b|añade|\badiciona\b|\baggiungi\b|добавля|вставля|加入|附上|包含|含め|追加|포함|추가"
_KEPT = r"\.env\b|\bzugangsdaten\b|schlüssel|passw\w+|\bclés\b|\bclaves\b|\bchaves\b|ключ|密钥|密码|キー|키"
_ANSWER = r"\bantwort|\bréponse|\brespuestas?\b|\brespostas?\b|\brispost[ae]\b|ответ|回答|回复|답변"

ABROAD: tuple[Sign, ...] = (
    tells("ignore-previous", f"{_IGNORE} … {_RULES}", f"{_RULES} … 無視|忘れ|従わな|무시|잊 … 12"),
    tells(
        "hides-from-user",
        f"{_SAY_DE} … {_PERSON} … {_NOT_DE}",
        f"{_SAY_DE} … {_NOT_DE} … {_PERSON}|{_REPORT}",
        f"{_PERSON} … {_NOT_DE} … {_SAY_DE}",
        f"{_NOT_TELL} … {_PERSON}",
        f"{_PERSON} … {_NOT_TELL}",
        f"{_NOT_TELL} … {_REPORT}",
        _COVERTLY,
    ),
    tells("permission", f"{_NOT_ASK} … {_YES}", f"{_YES} … 求めない|取らず|せずに|없이|구하지 … 6"),
    tells(
        "permission",
        rf"{_WITHOUT} … {_YES} || \b(?:zu fragen|nachzufragen|rückfrage|demander|pedir|preguntar|perguntar|chiedere|te vragen)\b || спроса … 12",
        holds=not_forbidden_abroad,
    ),
    tells("permission", f"{_ALREADY} … {_AGREED} … {_RISKY}", f"{_PERSON} … {_NO_MORE} … {_ASKED}"),
    tells(
        "delayed-trigger",
        f"{_WHEN} … {_PERSON} … {_SEND}",
        f"{_PERSON} … たら|とき|면|때 … {_SEND} … 30",
    ),
    tells(
        "data-sent-away",
        rf"(?:{_SEND})[^\n]*https?://|https?://[^\n]{{0,12}}(?:に送信|发送|發送|전송)",
        f"{_PUT_ABROAD} … {_KEPT} … {_ANSWER}",
        f"{_ANSWER} … {_KEPT} … {_PUT_ABROAD}",
        f"{_ANSWER} … {_PUT_ABROAD} … {_KEPT}",
    ),
)
