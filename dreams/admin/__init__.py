"""Django's admin, for admins: view all rows, set policies, settings and prices.

Rows made by an engine are read-only here: verdicts and undos have their own pages, where they are checked and logged.
Policies and settings use the same service as the settings page, with the same checks and audit log. The login is
memoryweb's: the owner has no password.
"""

from dreams.admin import policies, rows, site
