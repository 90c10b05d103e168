"""The base of what an operation reports that it did."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Report(BaseModel):
    """Base of reports and of their parts."""

    model_config = ConfigDict(frozen=True)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types."""
        return self.model_dump(mode="json")
