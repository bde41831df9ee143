"""How secrets are handed over, whatever they look like: options of commands, addresses, XML, SQL, sentences. PURE, for re2.

Each row: rule, judge, pattern. The group `s` is the secret, if the judge finds that it looks like one:
`form` (anything but a placeholder), `password`, `token` (as behind such a name), `told` (a random password),
`mixed` (one of all four kinds of characters), `random` (a long random token), `login` (a name and a password in base64).
"""

from __future__ import annotations

# What may stand around a value and what ends it.
_Q = r"""["'`“„«]?"""
# A command that goes on after a backslash at the end of its line.
_ON = r"""[^\n]*?(?:\\\n[^\n]*?){0,6}"""
_V = r"""[^\s"'`“”„«»,;<>()\[\]{}]"""

GIVEN = rf"""
app-password      form      (?i)\bapp[ -]?passw\w+\s*(?::|=|is)\s*["'`]?(?P<s>[a-z]{{4}} [a-z]{{4}} [a-z]{{4}} [a-z]{{4}})\b
app-password      form      (?i)\b(?:fastlane|apple|app[ _-]?specific)\w*(?:password|session)\w*\s{{0,2}}[:=]\s{{0,2}}["'`]?(?P<s>[a-z]{{4}}-[a-z]{{4}}-[a-z]{{4}}-[a-z]{{4}})\b
cookie            token     (?i)\bcookie:\s*[^\n]*?(?:session|sid|auth|token)[\w.-]*=(?P<s>[^\s;"']{{20,}})
netrc-login       password  \bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<s>\S+)
registry-login    token     "auth"\s*:\s*"(?P<s>[A-Za-z0-9+/]{{20,}}={{0,2}})"
registry-login    token     (?i)(?:^|[:\s])_(?:auth|password|authToken)\s?=\s?"?(?P<s>[A-Za-z0-9+/_.-]+={{0,2}})
given-password    password  (?i)\b(?:curl|https?|wget|xh)\b{_ON}\s(?:-u|-a|--user|--auth)[ =]\s{{0,4}}["']?[\w.@-]*:["']?(?P<s>[^\s"'`]+)
given-password    password  \bmysql(?:dump|admin)?\b[^\n]*?\s-p(?P<s>[^\s"'`-][^\s"'`]{{5,}})
given-password    password  (?i)\b(?:password|passphrase|passwort)\s+["'`](?P<s>[^\s"'`]+)["'`]
given-password    password  \b(?:sshpass\s+-p|unzip\s+-P|redis-cli\b[^\n]*?\s-a)\s*["']?(?P<s>[^\s"'`]+)
given-password    told      \b(?:mongo(?:sh|dump|restore)?|docker|podman|az|sqlcmd|bcp|ldap\w+|openssl|htpasswd|smbclient|cf|oc|kinit|7z|rar|zip|ansible-vault)\b[^\n]*?\s-(?:[pPwWkad]\s|[pPw]){_Q}(?P<s>{_V}*\d{_V}*)
given-password    password  (?:パスワード|密码|密碼|口令|[пП]ароль|비밀번호|[hH]asło|[hH]eslo|[pP]arola|[lL]ösenord|[wW]achtwoord|[aA]dgangskode|[sS]alasana|[jJ]elszó|[şŞ]ifre)(?:\s[^\n:：=]{{1,30}}?)?\s{{0,3}}(?:[:：=は是—–-]|to|is|är|on)\s{{0,3}}["'`「]?(?P<s>[^\s"'`」]+)
given-password    password  \b(?:requirepass|masterauth)\s+["']?(?P<s>[^\s"'`]+)
given-password    form      \bWIFI:[^\n]*?;P:(?P<s>[^;\n]{{8,63}});
given-secret      token     (?i)\s--?[\w-]*(?:token|secret|api-?key|access-?key|auth-?key)(?:\s|=|\s=\s)["'`]?(?P<s>{_V}+)
given-secret      password  (?i)\s--?[\w-]*(?:password|passwd|passphrase|pass|pwd)(?:\s|=)["'`]?(?P<s>{_V}+)
given-secret      random    (?i)\b(?:setx|add-authtoken|authtoken|set-secret|secrets? (?:set|put|add|create))\s+(?:[\w./-]+\s+)?["'`]?(?P<s>{_V}*\d{_V}*)
given-secret      random    (?i)\bset\s+-\w+\s+\w*(?:token|key|secret|pass\w*)\s+["'`]?(?P<s>{_V}*\d{_V}*)
given-secret      random    (?i)\bconfigure set\s+[\w.-]*(?:secret|key|token)[\w.-]*\s+["'`]?(?P<s>{_V}*\d{_V}*)
given-secret      password  (?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+["'](?P<s>[^\s"']+)["']
given-secret      password  (?i)\bConvertTo-SecureString\s+(?:-String\s+)?["'](?P<s>[^\s"']+)["']
given-secret      password  (?i)\([^()\n]*\b(?:password|passwd|pwd)\b[^()\n]*\)\s*values\s*\([^()\n]*["'](?P<s>[^\s"',()]+)["']\s*\)
given-secret      token     (?i)<[\w:.-]*(?:secret|token|api[_-]?key|access[_-]?key)>(?:\s*</key>\s*<string>)?(?P<s>[^\s<>]+)</
given-secret      password  (?i)<[\w:.-]*(?:password|passphrase|passwd)>(?P<s>[^\s<>]+)</
given-secret      token     (?i)<key>[\w.-]*(?:secret|token|key|password)</key>\s*<string>(?P<s>[^\s<>]+)</
given-secret      password  (?i)\bkey\s?=\s?"[\w.:-]*(?:password|secret|token|apikey|api[_-]key)"\s+value\s?=\s?"(?P<s>[^\s"]+)"
given-secret      token     (?i)\b[\w]*(?:secret|token|key|password)\s?:\s?&?(?:'static )?(?:str|string|String\??|&str)\s?=\s?["'](?P<s>[^\s"']+)["']
given-secret      token     (?i)\b[\w.-]*(?:secret|token|password|key)\w*["']?[ ]?\{{[^{{}}\n]*\b(?:default|value)\s?=\s?"(?P<s>[^\s"]+)"
given-password    told      (?i)\s-(?:u|l|-user(?:name)?|-login)[ =]?\S+?\s[^\n]*?-(?:p|w|-pass(?:word)?)[ =]?{_Q}(?P<s>{_V}*\d{_V}*)
given-password    told      (?i)\s(?:-u|--user|/user:)\s?[\w.@\\-]+[,%](?P<s>{_V}*\d{_V}*)
given-password    told      (?i)\s/p(?:ass(?:word)?)?:(?P<s>{_V}*\d{_V}*)
given-password    told      (?i)\bnet use\s+(?:\w:\s+)?\\\\\S+\s+(?P<s>{_V}*\d{_V}*)\s+/user
given-password    told      (?i)\b(?:echo|printf|cat\s*<<<)\s+(?:-\w+\s+)?["'](?P<s>{_V}*\d{_V}*)["']\s*\|\s*(?:sudo|docker|podman|cryptsetup|gpg|kinit|openssl|passwd|chpasswd|su|ssh-add|keepassxc-cli)\b
given-password    told      (?i)\b(?:identify|auth|login|send)\s+["']?(?P<s>{_V}*\d{_V}*?)(?:\\[rn])?["']?(?:\s|$)
given-secret      random    (?i)\bmc (?:alias set|config host add)\s+\S+\s+\S+\s+\S+\s+(?P<s>{_V}+)
license-key       form      (?i)\b(?:licen[cs]e|product|serial|activation)(?:[ _-]?(?:key|number|code))?\W+(?P<s>(?:[A-Z0-9]{{5}}-){{3,5}}[A-Z0-9]{{5}})\b
cell-password     mixed     \|[ ]`?(?P<s>{_V}*\d{_V}*)`?[ ]\|
recovery-code     form      (?i)\b(?:recovery|backup|rescue) codes?\s{{0,2}}[:=]\s{{0,2}}["'`]?(?P<s>[a-z0-9]*\d[a-z0-9]*-[a-z0-9]{{4,10}}(?:-[a-z0-9]{{4,10}}){{0,6}})\b
seed-phrase       form      (?i)\b(?:mnemonic|(?:seed|recovery|secret) phrase)["']?\s{{0,2}}(?:[:=]|is)\s{{0,2}}["'`]?(?P<s>(?:[a-z]{{3,8}} ){{11,23}}[a-z]{{3,8}})\b
pgpass-line       told      (?:^|[\s"'`])[\w.*-]+:(?:\d{{4,5}}|\*):[\w.*-]+:[\w.*-]+:(?P<s>[^\s:"'`]+)
jdbc-login        told      \bjdbc:oracle:\w+:[\w.-]+/(?P<s>[^\s@/]+)@
url-token         random    (?i)[?&;](?:api[_-]?key|apikey|access[_-]?token|auth[_-]?token|id[_-]?token|refresh[_-]?token|token|secret|client[_-]?secret|signature|appid|hapikey|code|key|x-plex-token|x-amz-signature|x-goog-signature|password|pwd)=(?P<s>[A-Za-z0-9%._~+/=-]{{16,}})
webhook-address   random    (?i)https?://[\w.-]+/(?:[\w.%-]+/){{0,6}}?(?:hooks?|webhooks?|incoming|hook-?tasks?)/(?:[\w-]+/){{0,2}}(?P<s>[A-Za-z0-9_-]{{16,}})
webhook-address   random    (?i)https?://(?:hooks?|webhooks?|maker|outlook)\.[\w.-]+/(?:[\w.-]+/){{0,6}}?(?P<s>[A-Za-z0-9_-]{{16,}})
node-address      random    (?i)https?://[\w.-]*(?:infura\.io|alchemy(?:api)?\.(?:com|io)|quiknode\.pro|ankr\.com|blastapi\.io|chainstack\.com)/(?:[\w.-]+/){{0,3}}(?P<s>[A-Za-z0-9_-]{{16,}})
private-address   random    (?i)/(?:private-|secret/|magic/|share-token/)(?P<s>[0-9a-f]{{24,}})
one-time-seed     form      (?i)\botpauth://\S+?[?&]secret=(?P<s>[A-Z2-7]{{16,}})
one-time-seed     form      \b(?:TOTP|2FA|MFA|OTP)\b[^\n]*?(?:secret|seed|key)\W{{1,4}}(?P<s>[A-Z2-7]{{16,}})\b
password-hash     form      \$(?:6|5|1|y|apr1|2[aby])\$(?P<s>[A-Za-z0-9./$,=]{{30,}})
password-hash     form      \$argon2(?:id|i|d)\$(?P<s>[A-Za-z0-9+/$,=]{{40,}})
url-credentials   address   \b[a-zA-Z][a-zA-Z0-9+.-]+://[^\s/:@"'<>`]*:(?P<s>[^\s/@"'<>`]{{4,}})@[^\s/@"'<>`]+
bearer            token     (?i)\b(?:bearer|basic)\s+(?P<s>[A-Za-z0-9._~+/-]{{20,}}={{0,2}})
bearer            login     (?i)\bbasic\s+(?P<s>[A-Za-z0-9+/]{{8,}}={{0,2}})
bearer            told      (?i)\s(?:-H|--header)[ =]["'](?:x-)?[\w-]*(?:token|key|secret)\s?:\s?(?P<s>[A-Za-z0-9._~+/-]{{8,}})
bearer            random    (?i)\s(?:-H|--header)[ =]["'](?:x-)?[\w-]*(?:token|key|secret)\s?:\s?(?P<s>[A-Za-z0-9._~+/-]{{16,}})
bearer            token     (?i)\bauthorization["']?\s*[:=]\s*["']?(?:token\s+)?(?P<s>[A-Za-z0-9._~+/-]{{20,}}={{0,2}})
bearer            token     (?i)\b(?:x-)?[\w-]*(?:auth|api|private|access)-(?:key|token|secret)["']?\s?:\s?["']?(?P<s>[A-Za-z0-9._~+/-]{{16,}}={{0,2}})
told-password     told      (?i)\b(?:password|passwd|passphrase|passcode|pw|pass|creds?|credentials|kennwort|passwort|contraseña|clave|senha|mot de passe)\b(?: (?:for|of|on|to|in|at|auf|für|de|del|du|do|da|des|pour|para) [^\n:=→]+?)? ?(?:[:=→—–-]|is(?: now)?:?|was|(?:was |were |be |has been )?(?:changed|set|reset|rotated|updated) to|to|will be|should be|lautet|ist|est|es|é| ) *(?:\S+ ?[:/ ] ?)?{_Q}(?P<s>{_V}*\d{_V}*)
told-password     told      (?i)\b(?:use|enter|type|with|mit) {_Q}(?P<s>{_V}*\d{_V}*){_Q} (?:to|when) (?:log|sign|unlock|connect|authenticate|get in)\b
told-password     told      (?i)\b(?:use|enter|type|with|mit) {_Q}(?P<s>{_V}*\d{_V}*){_Q} (?:as|for) (?:the |my |your )?(?:\w+ )?(?:password|passphrase|pw|passwort)\b
told-password     told      (?i)\b(?:wi-?fi|wlan)\b[^\n:/]{{0,20}}[:/] ?(?:\S{{2,32}} ?/ ?)?{_Q}(?P<s>{_V}*\d{_V}*)
told-password     told      (?i)\b(?:log|sign) ?(?:in|on)\b[^\n.]{{0,60}}? (?:with|using) {_Q}(?P<s>{_V}*\d{_V}*)
told-password     told      (?i)\b(?:log ?in|logins?|sign in|creds?|credentials|account|user(?:name)?)\b[^\n]*?\S{{2,60}} ?[:/] ?{_Q}(?P<s>{_V}*\d{_V}*)
told-secret       unnamed   (?i)\b(?:tokens?|secrets?|secret access key|api|unseal key \d+|recovery key|bearer|api[ -]?keys?|access[ -]?keys?|signing[ -]?key|encryption[ -]?key|private[ -]?key|(?:the|live|test|prod|admin|staging) key|api[ -]?schlüssel|jeton|cl[ée] (?:api|secrète|d['’]accès)|clave (?:de )?(?:api|acceso|secreta))\b(?: (?:for|of|on|to|in|at|für|von|de|del|du|pour|para|do) [^\n:=→]+?)? ?(?:[:=→—–-]|is(?: now)?:?|was|(?:was |be |has been )?(?:changed|set|rotated) to|starts with 0x:|lautet|ist|est|es|é| ) ?\(?{_Q}(?P<s>{_V}*\d{_V}*)
told-secret       random    (?i)\b(?:secrets?|api[ -]?keys?|access[ -]?keys?)(?: (?:for|of|on|to) [^\n:=→]+?)? ?(?:[:=→—–-]|is(?: now)?|was| ) ?{_Q}(?P<s>{_V}*\d{_V}*)
"""
