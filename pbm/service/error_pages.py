"""The responses to requests that cannot be done: for people a page that says why, for programs JSON or a line."""

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

import games
from pbm.mail.incoming import Outcome, Printed
from pbm.service.context import PRIVATE, SOON, WebContext
from pbm.service.identity import REVOKED
from pbm.service.posted_commands import printed_response
from pbm.service.requests import wants_json
from pbm.site.build import MANIFEST
from pbm.store import Unusable
from pbm.terminal import warn

NO_PAGE = "There is no page at this address. If it was that of a board, that board may have been removed."
NOT_BUILT = "The pages of this site are being written for the first time; this one appears by itself in some seconds."
COMES_AGAIN = SOON | {"Refresh": SOON["Retry-After"]}
"""What a response has that a browser asks for again by itself in some seconds."""
TITLES = {
    403: "This link does not work",
    404: "No page is here",
    410: "This is gone",
    429: "That was too much",
    503: "Please try again",
}
"""The titles of the pages that say why something cannot be done, by their status; others say `Not done`."""


def error_response(context: WebContext, request: Request, error: Exception) -> Response:
    """The response to a request that cannot be done, or at which the server fails; then the log says why."""
    if not isinstance(error, HTTPException):
        warn_of_page(error)
        status = 503 if isinstance(error, Unusable | TimeoutError) else 500
        error = HTTPException(status, "This could not be done; please try again later.")
    elif error.status_code == 404 and _is_to_be_written(context, request.url.path):
        error = HTTPException(503, NOT_BUILT, COMES_AGAIN)
    elif error.status_code == 404:
        error = HTTPException(404, NO_PAGE)
    if request.url.path in {"/command", "/events"}:
        data = {"error": error.detail, "status": 2 if error.status_code == 400 else 1}
        response: Response = printed_response(request, Printed(error.status_code, error.detail, data))
    elif wants_json(request):
        body = {"error": error.detail, "status": error.status_code}
        response = JSONResponse(body, error.status_code)
    else:
        response = _error_page(context, request, error)
    response.headers.update(error.headers or {})
    return response


def outcome_refusal(outcome: Outcome) -> HTTPException:
    """The status, and the sentence, of an outcome in which nothing was done."""
    if outcome.word == "failed":
        return HTTPException(503, "This could not be stored; please try again later.")
    if outcome.word == "unknown":
        return HTTPException(403, REVOKED)
    if outcome.word == "barred":
        return HTTPException(403, "The operator of this server takes nothing that comes from your address.")
    errors = "\n\n".join(str(letter.data["error"]) for letter in outcome.letters)
    why = outcome.reason or "It reads as if a program had written it, so nothing was done"
    return HTTPException(422, errors or f"{why}.")


def warn_of_page(why: Exception) -> None:
    """Write into the log why a page could not be made."""
    warn(f"A page could not be made: {type(why).__name__}: {why}")


def answer_form(context: WebContext, request: Request, status: int = 200, text: str = "", error: str = "") -> Response:
    """A page with a letter or a refusal, and a form in which the last post can be changed and posted again."""
    title = "Answer a board mail"
    if error:
        title = TITLES.get(status, "Not done")
    elif text:
        title = "Done"
    last_post = getattr(request.state, "fields", {})
    return context.private_page(request, "answer.html", title, status, text=text, error=error, typed=last_post)


def _error_page(context: WebContext, request: Request, error: HTTPException) -> Response:
    """A page that says why something cannot be done. What was typed as an answer stands in a form."""
    status = error.status_code
    if request.url.path == "/answer" and request.method == "POST":
        return answer_form(context, request, status, error=error.detail)
    page = context.pages.render(
        "error.html",
        request.url.path.removeprefix("/"),
        title=TITLES.get(status, "Not done"),
        error=error.detail,
        status=status,
    )
    return HTMLResponse(page, status, headers=PRIVATE)


def _is_to_be_written(context: WebContext, path: str) -> bool:
    """Whether the site is being written for the first time, and will have pages in that folder."""
    folder = path.split("/")[1]
    if context.site is None or "/." in path or folder not in {"", "users", *games.names()}:
        return False
    return not Path(context.site, MANIFEST).exists()
