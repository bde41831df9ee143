"""The WSGI entry point, for `serve` and for any other WSGI server."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryweb.settings")
application = get_wsgi_application()
