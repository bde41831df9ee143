"""Django's admin, for admins: look at every row, set policies, thresholds and prices.

What the engine made is shown and not changed here: a verdict or an undo belongs on its own page, where it is checked
and written down. Policies and thresholds go through the same service as the settings page, so that they are checked
and audited alike. The login is ours: the owner has no password.
"""

from dreams.admin import policies, rows, site
