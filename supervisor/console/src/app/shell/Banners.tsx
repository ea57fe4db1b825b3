import { Button } from "@mantine/core";
import type { ReactNode } from "react";
import { useRef } from "react";
import { useOverview } from "@/api/overview";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Icon } from "@/components/Icon";
import { visible } from "@/text/visible";
import { useContact } from "../contact";
import classes from "./Banners.module.css";

const STATUS_MS = 60_000;

/** What holds for every page: no contact, no leader, no database, a follower, another version. */
export function Banners() {
  const contact = useContact();
  const status = useApi("/status", {}, STATUS_MS).data;
  const database = useOverview(SAFETY_MS).data?.database;
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
      {database?.ok === false && <Banner>The metadata database does not answer.</Banner>}
      {status?.leader === false && status.leaderUrl === null && (
        <Banner>No overlord leads at the moment: nothing is decided, and tasks go on.</Banner>
      )}
      {status?.leader === false && status.leaderUrl !== null && (
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
