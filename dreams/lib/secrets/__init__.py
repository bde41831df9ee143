"""Finds secrets in texts, and removes or masks them; used by findings, engines, the sandbox and the pages. PURE."""
