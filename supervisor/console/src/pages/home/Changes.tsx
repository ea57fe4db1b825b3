import { SAFETY_MS } from "@/api/query";
import type { components } from "@/api/schema";
import { useApi } from "@/api/use";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Clock } from "@/components/Time";
import classes from "./Changes.module.css";
import { describe } from "./describe";

type EventKind = components["schemas"]["EventKind"];

const SHOWN = 12;
/** What people and troubles do; handoffs are in the timeline of their supervisor. */
const KINDS: EventKind[] = [
  "supervisor-created",
  "spec-stored",
  "supervisor-suspended",
  "supervisor-resumed",
  "supervisor-terminated",
  "state-changed",
  "stream-silent",
  "stream-answers",
  "offsets-reset",
  "gap-declared",
  "handoff-asked",
  "generation-discarded",
  "replicas-diverged",
];

/** The newest changes of all supervisors that the caller may read. */
export function Changes() {
  const query = useApi("/api/v1/events", { query: { type: KINDS, limit: SHOWN } }, SAFETY_MS);
  return (
    <Panel title="Latest changes">
      <QueryView query={query} lines={6}>
        {({ events }) =>
          events.length === 0 ? (
            <p>Nothing has changed yet.</p>
          ) : (
            <ol className={classes.list}>
              {events.map((event) => (
                <li key={event.id}>
                  <span className={classes.at}>
                    <Clock at={event.at} unknown="When is not known." />
                  </span>
                  <SupervisorLink id={event.supervisorId} />
                  <Words text={describe(event.type, event.detail)} />
                </li>
              ))}
            </ol>
          )
        }
      </QueryView>
    </Panel>
  );
}

function Words({ text }: { text: string }) {
  return (
    <span className={classes.what} title={text}>
      {text}
    </span>
  );
}
