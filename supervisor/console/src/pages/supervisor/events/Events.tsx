import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { ArchiveNote } from "@/components/ArchiveNote";
import { QueryView } from "@/components/QueryView";
import { Stamp } from "@/components/Time";
import { DataTable } from "@/components/table/DataTable";
import { useSupervisorId } from "../data";
import split from "../split.module.css";
import { COLUMNS, NAME } from "./columns";
import { EventFilters } from "./EventFilters";
import { EventPanel } from "./EventPanel";
import classes from "./Events.module.css";
import { useFeed } from "./feed";
import { lacksTrimmed } from "./kinds";
import { type EventsSearch, isFiltered } from "./search";

/** All that happened to the supervisor, newest first; new events come on top. */
export function Events() {
  const id = useSupervisorId();
  const search = useSearch({ from: "/shell/supervisors/$id/events" });
  const navigate = useNavigate({ from: "/supervisors/$id/events" });
  const change = useCallback(
    (part: Partial<EventsSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...part }), replace: true }),
    [navigate],
  );
  const { more, isLive, ...feed } = useFeed(id, search);
  return (
    <>
      <EventFilters search={search} isLive={isLive} onChange={change} />
      <QueryView query={feed} lines={10}>
        {({ events, next, completeSince, missing }) => (
          <>
            <ArchiveNote what="events" missing={missing} />
            <Trimmed search={search} before={completeSince} />
            <div className={split.split} data-open={search.event !== undefined}>
              <DataTable
                name={NAME}
                label="Events"
                columns={COLUMNS}
                rows={events}
                rowId={(event) => String(event.id)}
                total={events.length + (next === null ? 0 : 1)}
                active={search.event}
                onActive={(event) => change({ event })}
                onEnd={more}
                empty={
                  <p>
                    {isFiltered(search)
                      ? "No event that is kept fits the filter."
                      : "No event of it is kept: older events go as new ones come."}
                  </p>
                }
              />
              {search.event !== undefined && (
                <EventPanel
                  number={search.event}
                  event={events.find((each) => String(each.id) === search.event)}
                  onClose={() => change({ event: undefined })}
                />
              )}
            </div>
          </>
        )}
      </QueryView>
    </>
  );
}

/** Where the events of handoffs begin, if older ones would be in the list. */
function Trimmed({ search, before }: { search: EventsSearch; before: string | null | undefined }) {
  if (!before || !lacksTrimmed(search.type ?? [], search.since, before)) {
    return null;
  }
  return (
    <p className={classes.trimmed}>
      Events of handoffs, tasks and compactions before{" "}
      <Stamp at={before} unknown="When is not known." /> are trimmed; those of the supervisor and
      its offsets are kept longer.
    </p>
  );
}
