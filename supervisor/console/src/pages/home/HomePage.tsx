import { useOutage } from "@/api/outage";
import type { AttentionItem, Overview } from "@/api/overview";
import { lastKnownOverview, useOverview } from "@/api/overview";
import { POLL_MS } from "@/api/query";
import { Page } from "@/components/Page";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { Ago, Clock } from "@/components/Time";
import { exact } from "@/text/numbers";
import { Attention } from "./Attention";
import { answerOf } from "./answer";
import { Changes } from "./Changes";
import { ClusterFacts } from "./ClusterFacts";
import { ClusterFigures } from "./Figures";
import { FirstSteps } from "./FirstSteps";
import classes from "./HomePage.module.css";
import { LastHour } from "./LastHour";

/** What needs somebody, worst first; then how everything is going. */
export function HomePage() {
  const query = useOverview(POLL_MS);
  const outage = useOutage();
  const heading = query.data === undefined ? undefined : answerOf(query.data, outage?.kind);
  return (
    <Page title="Home" heading={heading}>
      <QueryView query={query} lines={8}>
        {(overview) => (outage === null ? <Present {...overview} /> : <Outlived now={overview} />)}
      </QueryView>
    </Page>
  );
}

function Present(overview: Overview) {
  return (
    <div className={classes.home}>
      <ClusterFigures overview={overview} />
      {overview.supervisors?.total === 0 && <FirstSteps />}
      <AttentionPanel items={overview.attention} more={overview.more} />
      {overview.supervisors !== null && overview.supervisors.total > 0 && <LastHour />}
      <Facts overview={overview} />
    </div>
  );
}

/** During an outage: what is known now, and below it what was known last, with its age. */
function Outlived({ now }: { now: Overview }) {
  const known = lastKnownOverview();
  return (
    <div className={classes.home}>
      {now.supervisors === null && <AttentionPanel items={now.attention} more={now.more} />}
      {known === undefined ? (
        <Facts overview={now} />
      ) : (
        <section className={classes.home} aria-label="Last known">
          <p className={classes.old}>
            What follows is what was known last, <Ago at={known.at} unknown="" /> (
            <Clock at={known.at} unknown="" />
            ). It may have changed since.
          </p>
          <ClusterFigures overview={known} />
          <AttentionPanel title="Needed somebody then" items={known.attention} more={known.more} />
          <Facts overview={now.supervisors === null ? { ...known, ...clusterOf(now) } : known} />
        </section>
      )}
    </div>
  );
}

function clusterOf({ leader, database }: Overview) {
  return { leader, database };
}

function Facts({ overview }: { overview: Overview }) {
  return (
    <div className={classes.columns}>
      <ClusterFacts overview={overview} />
      <Changes />
    </div>
  );
}

type Props = { title?: string; items: readonly AttentionItem[]; more: number };

function AttentionPanel({ title = "Needs somebody", items, more }: Props) {
  if (items.length === 0) {
    return null;
  }
  return (
    <Panel title={title} aside={more > 0 ? `${exact(more)} more` : undefined}>
      <Attention items={items} />
    </Panel>
  );
}
