"""The methods of a path, for the `Allow` header of a 405.

Starlette tries the routes one by one, and the first with the path names only its own methods.
"""

from collections.abc import Callable, Sequence

from starlette.routing import BaseRoute

from supervisor.api.http.access import api_routes


def methods_of(routes: Sequence[BaseRoute]) -> Callable[[str], str]:
    """Return a function from a path to the value of `Allow`; empty if no route has the path.

    Of `/supervisor/{id}` and `/supervisor/resumeAll` the one with fewer parameters counts.
    """
    forms: dict[str, set[str]] = {}
    for route in api_routes(routes):
        forms.setdefault(route.path, set()).update(route.methods or ())
    patterns = {route.path: route.path_regex for route in api_routes(routes)}
    nearest_first = sorted(forms, key=lambda form: form.count("{"))

    def allowed(path: str) -> str:
        for form in nearest_first:
            if patterns[form].match(path):
                return ", ".join(sorted(forms[form]))
        return ""

    return allowed
