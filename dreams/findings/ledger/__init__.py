"""Where each removed line went: memory as statements (`units`), where each is (`state`), and whether another keeps it. PURE."""
