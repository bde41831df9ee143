"""Where each removed line went: statements (`units`), where they are (`state`), whether another keeps them. PURE."""
