"""The classes of the records of a file: an import raises none."""

from collections.abc import Mapping
from typing import Any

from kgagent.graph.property_names import TRUST
from kgagent.models.history import dump_history, parse_history
from kgagent.models.note import dump_notes, parse_notes
from kgagent.trust import OWN, Trust, lower, read_trust, stored_trust


def not_raised(
    properties: dict[str, Any], stored: Mapping[str, Any], most: Trust
) -> dict[str, Any]:
    """The properties of a record with classes not above those of the record that they replace.

    Args:
        properties: as the file has them.
        stored: of the record that they replace; empty if there is none.
        most: class of the process, the highest that they get.
    """
    if not stored and most == OWN:
        return properties
    trust = lower(read_trust(properties.get(TRUST)), most)
    trust = lower(trust, read_trust(stored.get(TRUST)))
    notes, history = parse_notes(properties.get("notes")), parse_history(properties.get("history"))
    known = {note.identity: note.trust for note in parse_notes(stored.get("notes"))}
    former = {
        (one.field, str(one.value)): one.trust for one in parse_history(stored.get("history"))
    }
    classes = [lower(lower(one.trust, known.get(one.identity, OWN)), most) for one in notes]
    of_history = [
        lower(lower(one.trust, former.get((one.field, str(one.value)), OWN)), most)
        for one in history
    ]
    lowered = {**properties, TRUST: stored_trust(trust)}
    if classes != [one.trust for one in notes]:
        lowered["notes"] = dump_notes(
            one.model_copy(update={"trust": own}) for one, own in zip(notes, classes, strict=True)
        )
    if of_history != [one.trust for one in history]:
        lowered["history"] = dump_history(
            one.model_copy(update={"trust": own})
            for one, own in zip(history, of_history, strict=True)
        )
    return lowered
