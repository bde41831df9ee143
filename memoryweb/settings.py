"""Django's settings. None is required; `docs/configuration.md` lists the environment variables."""

import os
import sys
from pathlib import Path
from typing import Any

import dj_database_url
import platformdirs
import tzlocal

from memoryweb import RESOURCES, datadir, env

DATA_DIR = env.path("MEMORYWEB_DATA_DIR", lambda: platformdirs.user_data_path("memoryweb", appauthor=False))
ROOTS = env.paths("MEMORYWEB_ROOTS") or env.paths("CLAUDE_CONFIG_DIR")
ROOTS = ROOTS or (env.path("MEMORYWEB_ROOTS", lambda: Path.home() / ".claude"),)
# Without any agent's folder, `serve` makes a demo; all other commands then use the same folder.
DEMO_ROOT = DATA_DIR / "demo"
if not any(map(os.path.isdir, ROOTS)) and DEMO_ROOT.is_dir():
    ROOTS = (DEMO_ROOT,)

# The name of this machine among those that share a database; by default the computer's name at the first start.
HOST_NAME = env.text("MEMORYWEB_HOST")

SECRET_KEY = env.text("MEMORYWEB_SECRET_KEY") or datadir.secret_key(DATA_DIR)
DEBUG = False

# The exact host, port included, is checked by dreams.web.middleware; this is an outer check.
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *env.words("MEMORYWEB_HOSTS")]

INSTALLED_APPS = [
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_q",
    "dreams",
]

MIDDLEWARE = [
    "dreams.web.middleware.no_body_for_head",
    "dreams.web.middleware.plain_errors",
    "dreams.web.middleware.exact_host",
    "dreams.web.middleware.security_headers",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # CSRF tokens are masked differently in every page, so that compressed sizes reveal nothing about them.
    "django.middleware.gzip.GZipMiddleware",
    "dreams.web.middleware.same_site_only",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "dreams.web.middleware.no_nul_sent",
    "dreams.web.middleware.local_time",
    "dreams.web.access.AccountsOnly",
    "dreams.web.middleware.page_for_every_answer",
    "dreams.web.hidden_secrets.secret_paths_masked",
]

ROOT_URLCONF = "memoryweb.urls"
WSGI_APPLICATION = "memoryweb.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [RESOURCES / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "dreams.web.context.everywhere",
            ],
            "libraries": {
                "desk": "dreams.web.tags.desk",
                "search_marks": "dreams.web.tags.search_marks",
            },
        },
    }
]

# --- Database -------------------------------------------------------------------------------------------------
# WAL alone loses writes under web and cluster load: a deferred transaction that turns into a writer fails at once
# with "database is locked". IMMEDIATE waits its turn instead. CONN_MAX_AGE keeps the queue's polling from opening
# a connection on every call. Pages are read from the mapped file, so a cache of 8 MB for each connection is enough
# for writing: with 32 MB neither imports nor pages were faster.
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=20000; "
        "PRAGMA cache_size=-8000; PRAGMA mmap_size=268435456; PRAGMA temp_store=MEMORY;"
    ),
}
DATABASE_URL = env.database_url("DATABASE_URL")
if DATABASE_URL:
    DATABASES = {"default": dj_database_url.parse(DATABASE_URL, conn_max_age=600, conn_health_checks=True)}
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(DATA_DIR / "memoryweb.sqlite3"),
            "CONN_MAX_AGE": 600,
        }
    }
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = SQLITE_OPTIONS
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# A file cache, so that the web process can also read the queue's health figures.
CACHES = {
    "default": {
        "BACKEND": "memoryweb.file_cache.FileCache",
        "LOCATION": str(DATA_DIR / "cache"),
    }
}

# --- Queue ----------------------------------------------------------------------------------------------------
# Delivery is at least once, and `retry` counts from the hand-out: it must exceed `timeout`, or a running dream is
# handed out a second time (checked by dreams.conf). A dream is bounded below the lock's 60 minutes.
# A worker that was larger during a task, as in a dream of many memories, ends after it, and another takes its place: most
# of such memory would be kept for hours. The system counts kilobytes, and macOS bytes.
MOST_OF_A_WORKER = 170_000 * (1_024 if sys.platform == "darwin" else 1)
Q_CLUSTER: dict[str, Any] = {
    "name": "memoryweb",
    "orm": "default",
    "workers": env.integer("MEMORYWEB_WORKERS", 2, minimum=1, maximum=16),
    "timeout": env.integer("MEMORYWEB_TASK_TIMEOUT", 3300, minimum=60),
    "retry": env.integer("MEMORYWEB_TASK_RETRY", 3600, minimum=60),
    "queue_limit": 1,
    "bulk": 1,
    "poll": 1.0,
    "guard_cycle": 1.0,  # each check of its processes also writes a file
    "max_rss": MOST_OF_A_WORKER,
    "max_attempts": 1,
    "ack_failures": True,
    "catch_up": False,
    "save_limit": -1,
    "label": "Queue",
    "log_level": "WARNING",
}

# --- Time -----------------------------------------------------------------------------------------------------
USE_TZ = True
TIME_ZONE = env.zone("MEMORYWEB_TIME_ZONE") or tzlocal.get_localzone_name() or "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
FORMAT_MODULE_PATH = "memoryweb.formats"

# --- Accounts and cookies -------------------------------------------------------------------------------------
# Cookies are shared by all ports of a host: without a name per port, two servers would log each other out.
PORT = env.integer("MEMORYWEB_PORT", 8765, minimum=1, maximum=65535)
SESSION_COOKIE_NAME = f"memoryweb_{PORT}"
SESSION_COOKIE_SAMESITE = "Strict"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
CSRF_USE_SESSIONS = True
CSRF_COOKIE_SAMESITE = "Strict"
CSRF_FAILURE_VIEW = "dreams.web.views.errors.stale_form"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "inbox"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# --- Mail and webhook (digests; off until an address is set) ---------------------------------------------
EMAIL_HOST = env.text("MEMORYWEB_EMAIL_HOST")
EMAIL_SECURITY = env.choice("MEMORYWEB_EMAIL_SECURITY", "starttls", ("starttls", "ssl", "none"))
EMAIL_USE_TLS = EMAIL_SECURITY == "starttls"
EMAIL_USE_SSL = EMAIL_SECURITY == "ssl"
EMAIL_PORT = env.integer(
    "MEMORYWEB_EMAIL_PORT",
    {"starttls": 587, "ssl": 465, "none": 25}[EMAIL_SECURITY],
    minimum=1,
    maximum=65535,
)
EMAIL_HOST_USER = env.text("MEMORYWEB_EMAIL_USER")
EMAIL_HOST_PASSWORD = env.text("MEMORYWEB_EMAIL_PASSWORD")
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("MEMORYWEB_EMAIL_FROM", "memoryweb@localhost")
WEBHOOK_SECRET = env.text("MEMORYWEB_WEBHOOK_SECRET")

# --- Web ------------------------------------------------------------------------------------------------------
X_FRAME_OPTIONS = "DENY"
# dreams.web.middleware sets these headers on every response, and the loopback address is served without TLS, where
# browsers do not send secure cookies.
SILENCED_SYSTEM_CHECKS = ["security.W001", "security.W002", "security.W012"]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [RESOURCES / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_MANIFEST_STRICT = False

LOG_LEVEL = env.choice("MEMORYWEB_LOG_LEVEL", "warning", ("debug", "info", "warning", "error"))
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "memoryweb.faults.OneLine",
            "data_dir": DATA_DIR,
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL.upper()},
}
