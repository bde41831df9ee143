"""Django's admin, for admins: view all rows, set prices.

Everything else is set on pages, where it is checked and logged: verdicts and undos, settings and policies, jobs and trust.
The login is memoryweb's: the owner has no password.
"""

from dreams.admin import prices, rows, site
