"""All that a page is answered by the API, streams that have not ended included."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import Page

__all__ = ["Heard"]

_HEARD = "tidegateHeard"
_LISTEN = f"""
const ask = window.fetch;
const opened = performance.timeOrigin;
let number = 0;
window.fetch = async (...given) => {{
  const answer = await ask(...given);
  const copy = answer.clone();
  const id = `${{opened}} ${{(number += 1)}}`;
  const note = (text, isWhole = false) =>
    window.{_HEARD}(id, copy.url, copy.status, text, isWhole);
  const read = async () => {{
    const reader = copy.body?.pipeThrough(new TextDecoderStream()).getReader();
    note("");
    for (let part = await reader?.read(); part && !part.done; part = await reader.read()) {{
      note(part.value);
    }}
    note("", true);
  }};
  read().catch(() => undefined);  // the page has let go of it
  return answer;
}};
"""


@dataclass
class Answer:
    """One answer, as far as it has come."""

    window: str
    """The address that the page showed, as the test names it."""
    address: str
    """Path and query."""
    status: int
    text: str = ""
    is_whole: bool = False


@dataclass
class Heard:
    """The answers that a page was given, by an id of each."""

    page: Page
    answers: dict[str, Answer] = field(default_factory=dict)
    at: str = ""
    """The address that the page shows now."""

    def __post_init__(self) -> None:
        """Begin to listen."""
        self.page.expose_binding(_HEARD, lambda _, *given: self._note(*given))
        self.page.add_init_script(_LISTEN)

    def of(self, path: str) -> str:
        """Return all that was answered at addresses that begin so."""
        answers = self.answers.values()
        return "".join(each.text for each in answers if each.address.startswith(path))

    def with_text(self, text: str) -> list[str]:
        """Return where answers have this text: the address in the window, and theirs."""
        answers = self.answers.values()
        return [f"{each.window}: {each.address}" for each in answers if text in each.text]

    def _note(self, name: str, url: str, status: int, text: str, is_whole: bool) -> None:
        parts = urlsplit(url)
        address = f"{parts.path}?{parts.query}" if parts.query else parts.path
        answer = self.answers.setdefault(name, Answer(self.at, address, status))
        answer.text += text
        answer.is_whole = is_whole
