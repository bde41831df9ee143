"""The errors of the API. PURE."""

from collections.abc import Mapping
from dataclasses import dataclass, field

ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class Fault:
    code: int = 0
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def error_type(self) -> str:
        return ERROR_TYPES.get(self.code, "api_error")

    @property
    def body(self) -> dict[str, object]:
        said = self.message or self.error_type.replace("_", " ").capitalize()
        return {"type": "error", "error": {"type": self.error_type, "message": said}}


def status(code: int, message: str = "", **headers: str) -> Fault:
    """An HTTP error. Header names are given with `_` for `-`: `status(429, retry_after="3")`."""
    return Fault(code, message, {k.replace("_", "-"): v for k, v in headers.items()})
