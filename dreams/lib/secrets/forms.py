"""Patterns of secrets by their vendors' documented formats (prefixes, headers, addresses, key blocks), and of the ways any
secret is passed on (options of commands, addresses, XML, SQL, sentences). PURE, for re2."""

# id, pattern; the group `s` is the secret if the pattern has text around it.
PREFIXED = r"""
anthropic-key        \bsk-ant-[a-zA-Z0-9]{2,12}-[A-Za-z0-9_-]{20,}
openai-key           \bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,}
openai-key           \bsk-[A-Za-z0-9]{32,64}\b
openrouter-key       \bsk-or-v1-[0-9a-f]{40,80}
aws-access-key       \b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b
github-token         \bgh[pousr]_[A-Za-z0-9]{30,}
github-token         \bgithub_pat_[A-Za-z0-9_]{22,}
gitlab-token         \bgl(?:pat|dt|rt|ptt|cbt|soat|imt|ft|agent|rtr|oas|ffct|wt)-[A-Za-z0-9_.-]{20,}
slack-token          \bxox[abeoprs]-[A-Za-z0-9-]{10,}
slack-token          \bxoxd-[A-Za-z0-9%+/=-]{20,}
slack-token          \bxapp-\d-[A-Za-z0-9-]{10,}
slack-webhook        https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{20,}
discord-webhook      https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d{10,25}/[A-Za-z0-9_-]{30,}
discord-token        \b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}
stripe-key           \b(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{10,}
stripe-key           \bwhsec_[A-Za-z0-9+/=]{24,}
google-api-key       \bAIza[0-9A-Za-z_-]{35}
google-oauth         \bGOCSPX-[A-Za-z0-9_-]{20,60}
google-oauth         \bya29\.[A-Za-z0-9_-]{20,}
npm-token            \bnpm_[A-Za-z0-9]{36}
pypi-token           \bpypi-Ag[A-Za-z0-9_-]{40,}
rubygems-key         \brubygems_[0-9a-f]{48}
crates-token         \bcio[A-Za-z0-9]{32}\b
docker-token         \bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}
sendgrid-key         \bSG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,64}
twilio-key           \bSK[0-9a-f]{32}\b
mailgun-key          \bkey-[0-9a-f]{32}\b
mailchimp-key        \b[0-9a-f]{32}-us\d{1,2}\b
digitalocean-token   \bdo[opr]_v1_[0-9a-f]{64}
huggingface-token    \b(?:hf|api_org)_[A-Za-z0-9]{30,60}
databricks-token     \bdapi[0-9a-f]{32}
shopify-token        \bshp(?:at|ca|pa|ss|tka|ua)_[0-9a-fA-F]{32}
square-token         \bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,60}
telegram-token       (?:\b|bot)\d{8,10}:AA[A-Za-z0-9_-]{33}
linear-key           \blin_(?:api|oauth)_[A-Za-z0-9]{32,80}
notion-token         \b(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,60})
supabase-token       \bsb(?:p_[0-9a-f]{40}|_secret_[A-Za-z0-9_-]{20,60})
vault-token          \bhv[sbr]\.[A-Za-z0-9_-]{24,}
terraform-token      \b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}
doppler-token        \bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9.]{40,80}
planetscale-token    \bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,80}
postman-key          \bPMAK-[0-9a-f]{24}-[0-9a-f]{34}
figma-token          \bfig[dopu]_[A-Za-z0-9_-]{30,80}
groq-key             \bgsk_[A-Za-z0-9]{40,64}
xai-key              \bxai-[A-Za-z0-9]{60,}
perplexity-key       \bpplx-[A-Za-z0-9]{40,60}
langsmith-key        \blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}
grafana-token        \bgl(?:sa|c)_[A-Za-z0-9+/=_]{32,}
newrelic-key         \bNR(?:AK|JS|II)-[A-Za-z0-9]{20,40}
sentry-token         \bsntry[a-z]_[A-Za-z0-9+/=_-]{40,}
azure-storage-key    \bAccountKey=(?P<s>[A-Za-z0-9+/]{80,90}={0,2})
azure-sas            [?&;]sig=(?P<s>[A-Za-z0-9%+/_-]{40,80})
airtable-token       \bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}
atlassian-token      \bATATT3[A-Za-z0-9_=-]{60,}
bitbucket-token      \bATBB[A-Za-z0-9]{28,40}
dropbox-token        \bsl\.(?:u\.)?[A-Za-z0-9_-]{100,}
heroku-key           \bHRKU-[A-Za-z0-9_-]{30,80}
fly-token            \bfo1_[A-Za-z0-9_-]{40,80}
tailscale-key        \btskey-[a-z]{2,12}-[A-Za-z0-9-]{16,80}
mapbox-token         \bsk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,60}
pulumi-token         \bpul-[0-9a-f]{40}
age-key              \bAGE-SECRET-KEY-1[0-9A-Z]{50,64}
square-token         \bEAAA[a-zA-Z0-9_-]{56,70}\b
facebook-token       \bEAACEdEose0cBA[A-Za-z0-9]{40,}
fly-token            \bfm[12]_[A-Za-z0-9+/=_-]{80,}
nuget-key            \boy2[a-z0-9]{43}\b
artifactory-key      \bAKC[A-Za-z0-9]{60,75}\b
artifactory-token    \bcmVmdGtu[A-Za-z0-9]{50,60}\b
clojars-token        \bCLOJARS_[a-z0-9]{60}\b
contentful-token     \bCFPAT-[A-Za-z0-9_-]{43}
dynatrace-token      \bdt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}
easypost-key         \bEZ[AT]K[A-Za-z0-9]{54}
frameio-token        \bfio-u-[A-Za-z0-9_=-]{64}
flutterwave-key      \bFLW(?:SECK|PUBK)(?:_TEST)?-[a-z0-9]{32}-X\b
hubspot-token        \bpat-(?:na|eu|ap)\d-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
intra42-secret       \bs-s4t2(?:ud|af)-[0-9a-f]{64}
readme-key           \brdme_[a-z0-9]{70}
scalingo-token       \btk-us-[A-Za-z0-9_-]{48}
brevo-key            \bxkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}
shippo-token         \bshippo_(?:live|test)_[0-9a-f]{40}
typeform-token       \btfp_[A-Za-z0-9_.=-]{59}
netlify-token        \bnfp_[A-Za-z0-9]{36,60}
onepassword-token    \bops_eyJ[A-Za-z0-9+/=_-]{100,}
launchdarkly-key     \b(?:api|sdk)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b
octopus-key          \bAPI-[A-Z0-9]{26}\b
openshift-token      \bsha256~[A-Za-z0-9_-]{43}
settlemint-token     \bsm_(?:aat|pat|sat)_[A-Za-z0-9]{16}\b
sonar-token          \bsq[pua]_[0-9a-f]{40}\b
sourcegraph-token    \bsgp_(?:[A-Za-z0-9]{16}_|local_)?[0-9a-f]{40}\b
adafruit-key         \baio_[A-Za-z0-9]{28}\b
alibaba-key          \bLTAI[A-Za-z0-9]{12,20}\b
tencent-key          \bAKID[A-Za-z0-9]{32}\b
duffel-token         \bduffel_(?:live|test)_[A-Za-z0-9_=-]{43}
maxmind-key          \b[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\b
nvidia-key           \bnvapi-[A-Za-z0-9_-]{60,70}
tavily-key           \btvly-(?:dev-|prod-)?[A-Za-z0-9]{32}\b
firecrawl-key        \bfc-[0-9a-f]{32}\b
posthog-key          \bph[xs]_[A-Za-z0-9]{40,50}
plaid-token          \baccess-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
razorpay-key         \brzp_(?:live|test)_[A-Za-z0-9]{14}\b
braintree-token      \baccess_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}
buildkite-token      \bbk(?:ua|pt|ct|pat)_[0-9a-f]{40}
cloudflare-ca-key    \bv1\.0-[0-9a-f]{24}-[0-9a-f]{100,}
circleci-token       \bCCI(?:PAT|PRJ)_[A-Za-z0-9]{18,26}_[0-9a-f]{40}
harness-token        \b[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}\b
gitlab-token         \bGR1348941[A-Za-z0-9_-]{20}
google-refresh       \b1//0[A-Za-z0-9_-]{40,}
elevenlabs-key       \bsk_[0-9a-f]{48}\b
pinecone-key         \bpcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,80}
langfuse-key         \bsk-lf-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
mailgun-key          \b[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}\b
vercel-token         \bvercel_blob_rw_[A-Za-z0-9]{16}_[A-Za-z0-9]{24,40}
render-key           \brnd_[A-Za-z0-9]{28,40}\b
azure-secret         \b[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}
facebook-token       \bEAA[A-Za-z0-9]{100,}
okta-token           \bSSWS\s+(?P<s>00[A-Za-z0-9_-]{38,42})
asana-token          \b[012]/\d{16}(?:/\d{16})?:[0-9a-f]{32}\b
intercom-token       \bdG9rO[A-Za-z0-9+/=_-]{54,}
wallet-key           \bxprv[1-9A-HJ-NP-Za-km-z]{100,}
teams-webhook        https://[\w.-]{1,80}\.webhook\.office\.com/webhookb2/[^\s"'<>]{60,}
zapier-webhook       https://hooks\.zapier\.com/hooks/catch/\d{4,12}/\w{5,12}
putty-key            \bPrivate-Lines:\s*\d+\s+(?P<s>[A-Za-z0-9+/=]{40,}(?:\r?\n[A-Za-z0-9+/=]{40,})*)
onepassword-key      \bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}\b
adobe-secret         \bp8e-[A-Za-z0-9_-]{32}
clickhouse-key       \b4b1d[A-Za-z0-9]{38}\b
authress-key         \b(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\.[a-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}
nebula-key           \bdnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}
grafana-token        \beyJrIjoi[A-Za-z0-9]{60,400}={0,2}
json-web-token       \bZXlK[A-Za-z0-9_-]{60,}
mailgun-key          \bpubkey-[0-9a-f]{32}\b
yandex-token         \bt1\.[A-Za-z0-9_-]{10,}={0,2}\.[A-Za-z0-9_-]{86}={0,2}
yandex-token         \bAQVN[A-Za-z0-9_-]{35,38}
yandex-token         \by[0-3]_[A-Za-z0-9_-]{55,60}
twitter-token        \bA{21,22}[A-Za-z0-9]{6,}%[A-Za-z0-9%]{30,}
facebook-token       \b\d{13,17}\|[A-Za-z0-9_-]{24,40}
together-key         \btgp_v1_[A-Za-z0-9_-]{40,50}
jina-key             \bjina_[A-Za-z0-9_-]{50,70}
wandb-key            \bwandb_v1_[A-Za-z0-9_-]{30,90}
lambda-key           \bsecret_[a-z0-9]{2,20}_[0-9a-f]{32}\.[A-Za-z0-9]{20,40}
e2b-key              \be2b_[0-9a-f]{40}
langsmith-key        \bls__[0-9a-f]{32}\b
helicone-key         \bsk-helicone-(?:[a-z0-9]{7}-){3}[a-z0-9]{7}
convex-key           \b(?:prod|dev|preview):[a-z]+-[a-z]+-\d{1,4}\|[A-Za-z0-9+/=]{40,}
atlassian-token      \bATCTT3[A-Za-z0-9_=-]{60,}
trello-token         \bATTA[0-9a-f]{60,72}
clickup-token        \bpk_\d{5,9}_[A-Z0-9]{32}\b
calcom-key           \bcal_(?:live_)?[0-9a-f]{32}\b
mailersend-token     \bmlsn\.[0-9a-f]{64}
onesignal-key        \bos_v2_(?:app|org)_[a-z0-9]{60,110}
ably-key             \b[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{43}
telnyx-key           \bKEY[A-Z0-9]{32}_[A-Za-z0-9]{22}
adyen-key            \bAQE[A-Za-z0-9]{5,10}[A-Za-z0-9+/]{50,}={0,2}-[A-Za-z0-9+/]{20,}={0,2}-[A-Za-z0-9_-]{10,}
paddle-key           \bpdl_(?:live|sdbx)_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}
honeycomb-key        \bhca?[a-z]{2}_[a-z0-9]{50,62}
newrelic-key         \b[0-9a-f]{36}FFFFNRAL\b
axiom-token          \bxa(?:a|p)t-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
growthbook-key       \bsecret_(?:admin|readonly|user)_[A-Za-z0-9]{30,60}
unleash-token        (?:\*|\b[a-z0-9-]{1,30}):[a-z]{3,20}\.[0-9a-f]{56}
configcat-key        \bconfigcat-sdk-1/[A-Za-z0-9_-]{22}/[A-Za-z0-9_-]{22}
woocommerce-key      \bc[ks]_[0-9a-f]{40}\b
wakatime-key         \bwaka_(?:sec_|tok_)?(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[A-Za-z0-9]{40,})
riot-key             \bRGAPI-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
roblox-cookie        _\|WARNING:-DO-NOT-SHARE-THIS\.[^|\n]*\|_(?P<s>[A-F0-9]{60,})
instagram-token      \bIGQV[A-Za-z0-9_-]{80,}
linkedin-secret      \bWPL_AP1\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/]{6,10}={0,2}
aws-mws-token        \bamzn\.mws\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
aws-bedrock-key      \bABSK[A-Za-z0-9+/]{80,}={0,2}
aws-session-token    \b(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/]{80,}={0,2}
azure-key            \b[A-Za-z0-9]{72,80}AZDO[A-Za-z0-9]{4}\b
azure-key            \b[A-Za-z0-9+/]{42}\+(?:ACR|ASt|AMC|ARm|AIo)[A-Za-z0-9+/]{5,7}={0,2}
azure-key            \b[A-Za-z0-9]{42}(?:AzSe|ACDb|APIM|AzFu)[A-Za-z0-9+/]{5,8}={0,2}
azure-key            \b[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{12}[A-Za-z0-9]{8}[A-Za-z0-9]{4}\b
azure-bus-key        \bSharedAccessKey=(?P<s>[A-Za-z0-9+/]{40,48}={0,2})
google-hmac-key      \bGOOG[A-Z0-9]{20,60}\b
artifactory-token    \bcmVmd[A-Za-z0-9]{55,62}\b
ovsx-token           \bovsxp_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}
jsr-token            \bjsrp?_[A-Za-z0-9_-]{40,60}
firebase-key         \bAAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{100,}
workos-key           \bsk_(?:test|live)_[A-Za-z0-9]{40,80}
stytch-secret        \bsecret-live-[A-Za-z0-9_-]{30,40}=?
django-secret        \bdjango-insecure-(?P<s>[^\s'"]{40,60})
salesforce-token     \b00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{60,}
linear-key           \blin_wh_[A-Za-z0-9]{32,80}
miro-token           \beyJtaXJvLm9yaWdpbiI6[A-Za-z0-9]{4,30}_[A-Za-z0-9_-]{20,}
chat-webhook         https://chat\.googleapis\.com/v1/spaces/[A-Za-z0-9_-]{6,20}/messages\?key=[^\s&"']{20,}&token=(?P<s>[A-Za-z0-9_%-]{30,})
chat-webhook         https://(?:open\.(?:feishu|larksuite)\.c(?:n|om)/open-apis/bot/v2/hook|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=)/?(?P<s>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})
ifttt-key            https://maker\.ifttt\.com/\S{1,80}?/key/(?P<s>[A-Za-z0-9_-]{20,50})
make-webhook         https://hook\.[a-z0-9]{2,8}\.make\.com/(?P<s>[a-z0-9]{28,40})
ping-address         https://hc-ping\.com/(?P<s>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})
signed-address       (?i)[?&]signature=(?P<s>[A-Za-z0-9%+/_~-]{40,})
crates-token         \bcargo login\s+(?P<s>[A-Za-z0-9]{32,40})\b
cloudflared-token    \b(?:--token|tunnel run)\s+(?P<s>eyJ[A-Za-z0-9_-]{80,}={0,2})
private-key          ---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----[^-]*(?:---- END SSH2 ENCRYPTED PRIVATE KEY ----)?
private-key          \b(?:MII[A-Za-z0-9+/]{3}IBA[AD]|MHcCAQEEI)[A-Za-z0-9+/]{60,}={0,2}
private-key          \bclient-key-data:\s*(?P<s>[A-Za-z0-9+/]{40,}={0,2})
private-key          \bb3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{40,}
dependency-key       \bodt_[A-Za-z0-9]{32}(?:_[A-Za-z0-9]{8,32})?\b
stackhawk-key        \bhawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}\b
truenas-key          \b\d{1,3}-[A-Za-z0-9]{64}\b
teamcity-token       \beyJ0eXAiOiAiVENWMiJ9\.[A-Za-z0-9_-]{36}\.[A-Za-z0-9_-]{40,60}
packagist-token      \bpackagist_[a-z]{3}_[0-9a-f]{60,72}\b
atlas-secret         \bmdb_sa_sk_[A-Za-z0-9_-]{36,60}
cockroach-key        \bCCDB1_[A-Za-z0-9]{22}_[A-Za-z0-9]{40}\b
depot-token          \bdepot_(?:project|org|user)_[0-9a-f]{40,64}\b
baidu-key            \bbce-v3/ALTAK-[A-Za-z0-9]{16,26}/[0-9a-f]{40}\b
logfire-token        \bpylf_v\d_[a-z]{2}_[A-Za-z0-9]{40,50}\b
apify-token          \bapify_api_[A-Za-z0-9]{34,40}\b
browserbase-key      \bbb_live_[A-Za-z0-9_-]{26,30}
matrix-token         \bsy[tr]_[A-Za-z0-9+/_=-]{3,60}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}\b
rootly-key           \brootly_[0-9a-f]{64}\b
tinybird-token       \bp\.eyJ1Ijoi[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}
aiven-password       \bAVNS_[A-Za-z0-9_-]{17,22}
warp-key             \bwk-\d\.[0-9a-f]{64}\b
amp-key              \bsgamp_user_[A-Z0-9]{26}_[0-9a-f]{64}\b
volcengine-key       \bAKLT[A-Za-z0-9=_-]{40,60}
fal-key              \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}:[0-9a-f]{32}\b
llamacloud-key       \bllx-[A-Za-z0-9]{44,52}\b
inngest-key          \bsignkey-[a-z]{3,8}-[0-9a-f]{48,64}\b
dbt-token            \bdbt[cu]_[A-Za-z0-9_-]{36,48}
n8n-key              \bn8n_api_[0-9a-f]{60,90}\b
gemini-key           \bAQ\.Ab8RN6[A-Za-z0-9_-]{36,50}
bitwarden-token      \b0\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==
infisical-token      \bst\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\.[0-9a-f]{32}\.[0-9a-f]{32}
elastic-key          \bessu_[A-Za-z0-9+/]{50,80}={0,2}
openai-key           \bsess-[A-Za-z0-9]{40}\b
cartesia-key         \bsk_car_[A-Za-z0-9]{20,40}\b
esri-key             \bAAP[KT][A-Za-z0-9]{8,}[A-Za-z0-9_.-]{50,}
ghost-key            \b[0-9a-f]{24}:[0-9a-f]{64}\b
valtown-token        \bvtwn_[A-Za-z0-9]{26,30}\b
devin-key            \bapk_(?:user_)?[A-Za-z0-9_-]{60,120}
letta-key            \bsk-let-[A-Za-z0-9+/=]{60,}
persona-key          \bpersona_(?:production|sandbox)_[A-Za-z0-9-]{30,40}
pubnub-key           \b(?:pub|sub|sec)-c-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b
pubnub-key           \bsec-c-[A-Za-z0-9]{48}\b
ubidots-token        \bBBFF-[A-Za-z0-9]{30}\b
json-web-key         "kty"[^{}]*?"d"\s?:\s?"(?P<s>[A-Za-z0-9_-]{40,})"
json-web-token       \beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}
"""

# Prefixes that ordinary words have too ("test_", "md-"): the rest must also look random.
SHORT = r"""
replicate-token      \br8_[A-Za-z0-9]{30,50}
prefect-key          \bpnu_[A-Za-z0-9]{36}\b
voyage-key           (?:^|[^\w-])(?P<s>pa-[A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|$)
resend-key           \bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b
infracost-key        \bico-[A-Za-z0-9]{32}\b
fireworks-key        \bfw_[A-Za-z0-9]{22,24}\b
polar-token          \bpolar_(?:oat|pat|at_[ou])_[A-Za-z0-9]{32,50}
lob-key              \b(?:live|test)_(?:pub_)?[0-9a-f]{31,35}\b
gocardless-token     \b(?:live|sandbox)_[A-Za-z0-9_=-]{40}
mollie-key           \b(?:live|test)_[A-Za-z0-9]{30}\b
beamer-token         \bb_[A-Za-z0-9=_/-]{44}
yandex-token         \bYC[A-Za-z0-9_-]{38}\b
cerebras-key         \bcsk-[a-z0-9]{40,60}\b
modal-token          \ba[ks]-[A-Za-z0-9]{22}\b
runpod-key           \brpa_[A-Z0-9]{36,60}
composio-key         \bcomp_[A-Za-z0-9]{20,40}\b
mem0-key             \bm0-[A-Za-z0-9]{36,48}\b
brave-key            \bBSA[A-Za-z0-9_-]{27,31}
vercel-token         \bvc[prkai]_[A-Za-z0-9]{24,80}
neon-key             \bn(?:api|pg)_[A-Za-z0-9]{12,80}
xata-key             \bxau_[A-Za-z0-9]{28,50}
cloudflare-token     \bcf(?:ut|k|at)_[A-Za-z0-9]{36,60}
gitea-token          \bgta?_[0-9a-f]{40}\b
klaviyo-key          \bpk_[A-Za-z0-9]{34}\b
locationiq-key       \bpk\.[0-9a-f]{32}\b
airtable-token       \bkey[A-Za-z0-9]{14}\b
okta-token           (?:^|[\s"'`:(])(?P<s>00[A-Za-z0-9_-]{40})(?:[\s"'`,;.)]|$)
mandrill-key         \bmd-[A-Za-z0-9_-]{22}\b
wallet-key           \b[KL5][1-9A-HJ-NP-Za-km-z]{50,51}\b
segment-token        \bsgp_[A-Za-z0-9]{60,68}
statsig-key          \bsecret-[A-Za-z0-9]{40,46}\b
flagsmith-key        \bser\.[A-Za-z0-9]{22}\b
twitch-token         \boauth:[a-z0-9]{30}\b
backblaze-key        \bK00[A-Za-z0-9+/]{28}\b
deno-token           \bdd[pwo]_[A-Za-z0-9]{36}\b
descope-key          \bK2[A-Za-z0-9]{90,110}\b
ngrok-token          \b[0-9][A-Za-z0-9]{24,26}_[A-Za-z0-9]{19,23}\b
canva-secret         \bcnvca[A-Za-z0-9_-]{30,60}
cursor-key           \b(?:key|crsr)_(?:[0-9a-f]{64}){1,2}\b
unkey-key            \bunkey_[A-Za-z0-9]{20,30}\b
checkly-key          \bcu_[0-9a-f]{32}\b
zhipu-key            \b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b
netbird-token        \bnbp_[A-Za-z0-9]{36}\b
deepsource-token     \bdsp_[A-Za-z0-9]{40}\b
factory-key          \bfk-[A-Za-z0-9]{20,24}-[A-Za-z0-9_-]{43}
trigger-key          \btr_(?:dev|prod|stg|preview|pat)_[A-Za-z0-9]{20,40}\b
brex-token           \bbxt_[A-Za-z0-9]{36}\b
daytona-key          \bdtn_[0-9a-f]{64}\b
alchemy-key          \balcht_[A-Za-z0-9]{30}\b
kong-token           \b[ks]pat_[A-Za-z0-9]{40,50}\b
zuplo-key            \bzpka_[0-9a-f]{32}_[0-9a-f]{8}\b
tally-key            \btly-[A-Za-z0-9]{30,36}\b
materialize-password \bmzp_[0-9a-f]{64}\b
databricks-token     \bdo(?:se|ke)[0-9a-f]{32}\b
appwrite-key         \bstandard_[0-9a-f]{200,256}\b
browserbase-key      \bbb_test_[A-Za-z0-9_-]{26,30}
stytch-secret        \bsecret-test-[A-Za-z0-9_-]{30,40}=?
vault-token          \bs\.(?P<s>[A-Za-z0-9]{24})\b
"""


# --- How they are passed on ------------------------------------------------------------------------------------------

# The characters around a value and those that end it.
_Q = r"""["'`“„«]?"""
# A command that continues after a backslash at the end of its line.
_ON = r"""[^\n]*?(?:\\\n[^\n]*?){0,6}"""
_V = r"""[^\s"'`“”„«»,;<>()\[\]{}]"""

GIVEN = rf"""
private-key       block     -----BEGIN (?:[A-Z0-9]{{1,20}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----(?:(?:[^-]|--?[^-])*-----END (?:[A-Z0-9]{{1,20}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\n|[>|])*[A-Za-z0-9+/=]{{16,}})*)
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
told-password     mixed     (?i)[\w.+-]+@[\w.-]+\.[a-z]{{2,}}`? ?[:/|] ?{_Q}(?P<s>{_V}*\d{_V}*)
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

# The words of a rule that have capitals, or never any, as their owners write them. The others are ordinary words.
_NAMES = """
AMP API AWS CA HMAC JDBC JSON MWS OAuth SAS URL
Ably Adafruit Adobe Adyen Airtable Aiven Alchemy Alibaba Anthropic Apify Appwrite Artifactory Asana Atlas Atlassian
Authress Axiom Azure Backblaze Baidu Beamer Bedrock Bitbucket Bitwarden Braintree Brave Brevo Brex Browserbase
Buildkite CalCom Canva Cartesia Cerebras Checkly CircleCI ClickHouse ClickUp Clojars Cloudflare cloudflared Cockroach
Composio ConfigCat Contentful Convex crates Cursor Databricks Daytona dbt DeepSource Deno Depot Descope Devin
DigitalOcean Discord Django Docker Doppler Dropbox Duffel Dynatrace E2B EasyPost Elastic ElevenLabs Esri Facebook
Factory fal Figma Firebase Firecrawl Fireworks Flagsmith Flutterwave Fly Frameio Gemini Ghost Gitea GitHub GitLab
GoCardless Google Grafana Groq GrowthBook Harness Helicone Heroku Honeycomb HubSpot HuggingFace IFTTT Infisical
Infracost Inngest Instagram Intercom Intra42 Jina JSR Klaviyo Kong Lambda Langfuse LangSmith LaunchDarkly Letta Linear
LinkedIn LlamaCloud Lob LocationIQ Logfire Mailchimp MailerSend Mailgun Make Mandrill Mapbox Materialize Matrix MaxMind
Mem0 Miro Modal Mollie n8n Nebula Neon NetBird Netlify netrc NewRelic ngrok Notion npm NuGet NVIDIA Octopus Okta
OneSignal OnePassword OpenAI OpenRouter OpenShift ovsx Packagist Paddle Perplexity Persona pgpass Pinecone Plaid
PlanetScale Polar PostHog Postman Prefect PubNub Pulumi PuTTY PyPI Razorpay ReadMe Render Replicate Resend Riot Roblox
Rootly RubyGems RunPod Salesforce Scalingo Segment SendGrid Sentry SettleMint Shippo Shopify Slack Sonar Sourcegraph
Square StackHawk Statsig Stripe Stytch Supabase Tailscale Tally Tavily TeamCity Teams Telegram Telnyx Tencent Terraform
Tinybird Together Trello Trigger TrueNAS Twilio Twitch Twitter Typeform Ubidots Unkey Unleash Valtown Vault Vercel
Volcengine Voyage WakaTime wandb Warp WooCommerce WorkOS xAI Xata Yandex Zapier Zhipu Zuplo
"""
NAMES = {name.lower(): name for name in _NAMES.split()}


def spoken(rule: str) -> str:
    """ "GitHub token", "private key": a rule in words, as it continues a sentence."""
    return " ".join(NAMES.get(word, word) for word in rule.split("-"))


def titled(rule: str) -> str:
    """The same at the start of a line: "Private key", but "npm token"."""
    said = spoken(rule)
    return said if rule.partition("-")[0] in NAMES else said[:1].upper() + said[1:]
