import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { apiQuery, POLL_MS } from "@/api/query";
import { QueryView } from "@/components/QueryView";
import { Clock } from "@/components/Time";
import { visible } from "@/text/visible";
import { actionsAbout, actionWords } from "../why/decisions";
import type { Range } from "./phases";
import classes from "./Timeline.module.css";

const PATH = "/api/v1/supervisors/{supervisor_id}/plans";
const MOST = 200;
const SECOND_MS = 1_000;

/** What was decided about a range, and why; passes are kept for a while only. */
export function RangePlans({ range, supervisor }: { range: Range; supervisor: string }) {
  const last = range.endedAt ?? null;
  const before = last === null ? {} : { before: after(last) };
  const query = useQuery({
    ...apiQuery(PATH, { path: { supervisor_id: supervisor }, query: { limit: MOST, ...before } }),
    refetchInterval: last === null ? POLL_MS : false,
  });
  return (
    <QueryView query={query} lines={2}>
      {({ plans }) => {
        const actions = actionsAbout(plans, range.id);
        return actions.length === 0 ? (
          <p className={classes.dim}>What was decided about it is not kept any more.</p>
        ) : (
          <>
            <table className={classes.list}>
              <caption>Decisions</caption>
              <tbody>
                {actions.map(({ at, action, why }) => (
                  <tr key={`${at} ${action}`}>
                    <td>
                      <Clock at={at} unknown="" />
                    </td>
                    <td>
                      {visible(actionWords(action))}
                      <div className={classes.dim}>{visible(why)}</div>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <Link
              to="/supervisors/$id/why"
              params={{ id: supervisor }}
              search={{ about: range.id }}
            >
              Show among all decisions
            </Link>
          </>
        );
      }}
    </QueryView>
  );
}

function after(at: string): string {
  return new Date(Date.parse(at) + SECOND_MS).toISOString();
}
