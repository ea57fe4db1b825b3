import type { Got } from "@/api/client";
import { missing, useMe } from "@/api/me";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { CANCEL_COMPACTION, cancelCompactionOf } from "@/changes/tables";
import { openAction } from "@/components/action/ActionDialog";
import { neededFor } from "@/components/action/action";
import { Barred } from "@/components/Barred";
import { Command } from "@/components/Command";
import type { IconName } from "@/components/Icon";
import { Mark, type Tone } from "@/components/Mark";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Age } from "@/components/Time";
import { known } from "@/text/known";
import { exact } from "@/text/numbers";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { Interval } from "../Interval";
import classes from "./Rules.module.css";

const SHOWN = 20;
type Compaction = Got<"/api/v1/compactions">["compactions"][number];

const STATES: Record<string, { tone: Tone; icon: IconName; word: string }> = {
  WAITING: { tone: "note", icon: "waiting", word: "waits for a worker" },
  RUNNING: { tone: "note", icon: "waiting", word: "runs" },
  SUCCESS: { tone: "good", icon: "done", word: "done" },
  FAILED: { tone: "broken", icon: "broken", word: "failed" },
};

/** The newest compactions of the table, and what became of them. */
export function Compactions({ name }: { name: string }) {
  const query = useApi(
    "/api/v1/compactions",
    { query: { dataSource: name, limit: SHOWN } },
    SAFETY_MS,
  );
  return (
    <Panel
      title="Newest compactions"
      aside={
        query.data?.next != null ? (
          <Command text={`tidegate compaction list ${quoted(name)} --limit 1000`} />
        ) : undefined
      }
    >
      <QueryView query={query} lines={3}>
        {({ compactions }) =>
          compactions.length === 0 ? (
            <p className={classes.dim}>None was wanted so far.</p>
          ) : (
            <div className={classes.place}>
              <table className={classes.table}>
                <thead>
                  <tr>
                    <th scope="col">State</th>
                    <th scope="col">Time of the rows</th>
                    <th scope="col" className={classes.number}>
                      Files joined
                    </th>
                    <th scope="col" className={classes.number}>
                      Rows
                    </th>
                    <th scope="col">By</th>
                    <th scope="col">Begun</th>
                    <th scope="col">Ended</th>
                    <th scope="col">
                      <span>What came of it</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {compactions.map((each) => (
                    <CompactionRow key={each.id} name={name} row={each} />
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </QueryView>
    </Panel>
  );
}

function CompactionRow({ name, row }: { name: string; row: Compaction }) {
  const me = useMe();
  const { statusCode, endedAt, detail } = row;
  const { tone, icon, word } = known(STATES, statusCode) ?? {
    tone: "note",
    icon: "note",
    word: statusCode,
  };
  return (
    <tr>
      <td>
        <Mark tone={tone} icon={icon}>
          {word}
        </Mark>
      </td>
      <td>
        <Interval from={row.intervalStart} to={row.intervalEnd} />
      </td>
      <td className={classes.number}>{exact(row.files)}</td>
      <td className={classes.number}>{exact(row.rows)}</td>
      <td>{visible(row.reason)}</td>
      <td>
        <Age at={row.createdAt} unknown="" />
      </td>
      <td>
        <Age at={endedAt} unknown="It has not ended." />
      </td>
      <td>
        {endedAt === null ? (
          <Barred
            size="compact-xs"
            why={missing(me, neededFor("post", CANCEL_COMPACTION), name)}
            onClick={() => openAction(cancelCompactionOf(row.id))}
          >
            Give up…
          </Barred>
        ) : (
          visible(detail)
        )}
      </td>
    </tr>
  );
}
