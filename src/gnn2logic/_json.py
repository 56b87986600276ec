"""Reading JSON that is not trusted: no key twice, no NaN, no half characters, no deep nesting."""

from __future__ import annotations

import json
import math
import re
from typing import Any

# Written out, or as an escape.
_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")


def strict_json(text: str | bytes) -> Any:
    """Return the plain data of a JSON text, or raise ValueError that says what is wrong with it."""
    try:
        # json would guess at other encodings; our files are UTF-8 and nothing else.
        decoded = text if isinstance(text, str) else text.decode("utf-8")
        plain = json.loads(
            decoded, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite
        )
        if _SURROGATE.search(decoded):
            # Two in a row are a character, one alone is none: no file could hold it again.
            json.dumps(plain, ensure_ascii=False).encode("utf-8")
        return plain
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"the file is not UTF-8 text: {error}") from None
    except UnicodeEncodeError:
        raise ValueError(
            "the JSON holds half of a surrogate pair, which is not valid Unicode text"
        ) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ValueError(f"the JSON has the key {key!r} twice in one object")
            seen.add(key)
    return result


def _finite(text: str) -> float:
    value = float(text)
    # A number such as 1e999 is good JSON, but would become an infinity.
    if math.isinf(value):
        raise ValueError(f"the JSON holds {text}, which is too large for a number")
    return value


def _refuse(name: str) -> Any:
    raise ValueError(f"the JSON holds {name}, which is not a JSON number")
