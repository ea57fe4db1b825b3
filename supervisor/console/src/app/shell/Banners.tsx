import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useEffect, useRef } from "react";
import { type Outage, useOutage } from "@/api/outage";
import { type Overview, useOverview } from "@/api/overview";
import { apiQuery, queryClient, SAFETY_MS } from "@/api/query";
import { Icon } from "@/components/Icon";
import { Clock } from "@/components/Time";
import { counted } from "@/text/numbers";
import { visible } from "@/text/visible";
import { useContact } from "../contact";
import classes from "./Banners.module.css";

/** Asked anew once the stream was lost, as with another process, or another overlord leads. */
const STATUS = apiQuery("/status");
const OUTAGE_MS = 2_000;

/** What holds for every page: no contact, leader, database or Kafka, a follower, another version. */
export function Banners() {
  const contact = useContact();
  const status = useQuery(STATUS).data;
  const overview = useOverview(SAFETY_MS, OUTAGE_MS).data;
  const silent = overview?.attention.filter(({ kind }) => kind === "stream-silent") ?? [];
  const outage = useOutage();
  useStatusOf(overview?.leader ?? null);
  const first = useRef<string | undefined>(undefined);
  first.current ??= status?.version;
  const isOther = status !== undefined && status.version !== first.current;
  return (
    <>
      {contact.state === "stale" && (
        <Banner>
          The overlord does not answer. What is shown is old, and nothing can be changed; the page
          goes on by itself.
        </Banner>
      )}
      {outage !== null && contact.state !== "stale" && <OutageBanner {...outage} />}
      {silent.map(({ about, supervisors }) => (
        <Banner key={about.id}>
          Kafka does not answer at <bdi>{visible(about.id)}</bdi>: nothing new is read by{" "}
          {counted(supervisors.length, "supervisor")}.
        </Banner>
      ))}
      {outage === null && status?.leader === false && status.leaderUrl !== null && (
        <Banner isCalm>
          This overlord follows <bdi>{visible(status.leaderUrl)}</bdi> and passes everything on to
          it.
        </Banner>
      )}
      {isOther && (
        <Banner isCalm action={<Button onClick={() => location.reload()}>Reload</Button>}>
          The overlord is now version {visible(status.version)}; this page is of another one.
        </Banner>
      )}
    </>
  );
}

/** Has the status asked for again when another overlord leads than before. */
function useStatusOf(leader: Overview["leader"]): void {
  const term = leader?.term;
  const before = useRef(term);
  useEffect(() => {
    if (before.current !== undefined && before.current !== term) {
      void queryClient.invalidateQueries({ queryKey: STATUS.queryKey });
    }
    before.current = term;
  }, [term]);
}

/** Says once for all panels what is away, since when, and what to do. */
function OutageBanner({ kind, since }: Outage) {
  const clock = <Clock at={new Date(since).toISOString()} unknown="Since when is not known." />;
  return kind === "database" ? (
    <Banner>
      The overlord cannot reach its metadata database since {clock}: nothing is handed off,
      published or changed until it answers. Check that the database runs:{" "}
      <code>tidegate doctor</code> looks for the cause. This page goes on by itself.
    </Banner>
  ) : (
    <Banner>
      No leader answers since {clock}: tasks read on, and nothing is handed off, published or
      changed until an overlord leads. Another one takes over within seconds if it runs. This page
      goes on by itself.
    </Banner>
  );
}

type Props = { isCalm?: boolean; action?: ReactNode; children: ReactNode };

function Banner({ isCalm = false, action, children }: Props) {
  return (
    <div className={classes.banner} data-calm={isCalm} role="status">
      <Icon name={isCalm ? "note" : "risk"} />
      <span className={classes.words}>{children}</span>
      {action}
    </div>
  );
}
