import type { AttentionItem, Overview } from "@/api/overview";
import { useOverview } from "@/api/overview";
import { POLL_MS } from "@/api/query";
import { Page } from "@/components/Page";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { counted, exact } from "@/text/numbers";
import { Attention } from "./Attention";
import { Changes } from "./Changes";
import { ClusterFacts } from "./ClusterFacts";
import { ClusterFigures } from "./Figures";
import { FirstSteps } from "./FirstSteps";
import classes from "./HomePage.module.css";

/** What needs somebody, worst first; then how everything is going. */
export function HomePage() {
  const query = useOverview(POLL_MS);
  return (
    <Page title="Home" heading={query.data === undefined ? undefined : answerOf(query.data)}>
      <QueryView query={query} lines={8}>
        {(overview) => (
          <div className={classes.home}>
            <ClusterFigures overview={overview} />
            {overview.supervisors?.total === 0 && <FirstSteps />}
            <AttentionPanel items={overview.attention} more={overview.more} />
            <div className={classes.columns}>
              <ClusterFacts overview={overview} />
              <Changes />
            </div>
          </div>
        )}
      </QueryView>
    </Page>
  );
}

type Props = { items: readonly AttentionItem[]; more: number };

function AttentionPanel({ items, more }: Props) {
  if (items.length === 0) {
    return null;
  }
  return (
    <Panel title="Needs somebody" aside={more > 0 ? `${exact(more)} more` : undefined}>
      <Attention items={items} />
    </Panel>
  );
}

/** The page's first line: the answer to "must I do something?". */
export function answerOf({ totals, supervisors }: Overview): string {
  const parts = [
    totals.broken > 0 ? `${exact(totals.broken)} broken` : "",
    totals.atRisk > 0 ? `${exact(totals.atRisk)} at risk` : "",
    totals.toKnow > 0 ? `${exact(totals.toKnow)} to know` : "",
  ].filter((part) => part !== "");
  if (parts.length > 0) {
    return parts.join(" · ");
  }
  if (supervisors === null) {
    return "How the supervisors do is not known at the moment.";
  }
  if (supervisors.unhealthy > 0) {
    return `${exact(supervisors.unhealthy)} of ${counted(supervisors.total, "supervisor")} unhealthy`;
  }
  if (supervisors.total === 0) {
    return "No supervisor yet.";
  }
  return supervisors.total === 1
    ? "The one supervisor is healthy."
    : `All ${counted(supervisors.total, "supervisor")} are healthy.`;
}
