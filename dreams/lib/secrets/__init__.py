"""What is a secret and what is none, and text without it. PURE: findings, engines, the sandbox and the pages ask here."""
