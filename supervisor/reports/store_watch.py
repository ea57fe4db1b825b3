"""What the leader knows of the store of reports and logs: whether there is one to search.

A timer's thread looks, as of persisters.  Who shows it never waits for the store, and a page that
nothing is stored for asks for nothing.
"""

from dataclasses import dataclass

from supervisor.ports.reports.reports import ReportStore
from supervisor.ports.store_problems import StoreAway, StoreMissing, StoreRefuses

__all__ = ["OFF", "StoreWatch", "nothing_yet"]

OFF = (
    "reports and logs are switched off here by TIDEGATE_REPORTS=off: without it, and with a "
    "persister, they are stored from then on"
)
_NO_ID = "none"
"""The id of no record: to look for it says whether there is a store."""


def nothing_yet(error: StoreMissing) -> str:
    """Return why nothing can be searched where no persister has made the store."""
    return f"nothing has been stored yet: {error}"


@dataclass
class StoreWatch:
    """The store of an installation; thread-safe, since an answer is replaced as a whole."""

    reports: ReportStore | None
    """None: it is switched off."""
    _missing: str | None = None

    def run_once(self) -> None:
        """Look whether the store is there; one that does not answer is left as it was."""
        if self.reports is None:
            return
        try:
            self.reports.get(_NO_ID)
        except StoreMissing as error:
            self._missing = nothing_yet(error)
        except (StoreAway, StoreRefuses):
            return
        else:
            self._missing = None

    def forget(self) -> None:
        """Forget the answer: this overlord leads no more."""
        self._missing = None

    def nothing_stored(self) -> str | None:
        """Return why there is nothing to search; None: there is, or it is not known."""
        return OFF if self.reports is None else self._missing
