import { Link } from "@tanstack/react-router";
import { Command } from "@/components/Command";
import { Readable } from "@/components/flow/Readable";
import { Page } from "@/components/Page";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { counted } from "@/text/numbers";
import { type Standing, useExecutors } from "./data";
import { ExecutorTable } from "./ExecutorTable";
import classes from "./executors.module.css";
import { NoExecutors } from "./NoExecutors";
import { PartitionTable } from "./PartitionTable";
import { sentenceOf } from "./words";

/** Who runs executions, which partitions each works, and what waits in them. */
export function ExecutorsPage() {
  return (
    <Readable title="Executors">
      <Present />
    </Readable>
  );
}

function Present() {
  const query = useExecutors();
  return (
    <Page title="Executors" sentence={query.data && sentenceOf(query.data)}>
      <QueryView query={query} lines={10}>
        {(standing) => (standing.engine === "sql" ? <NoExecutors /> : <OnKafka {...standing} />)}
      </QueryView>
    </Page>
  );
}

function OnKafka({ executors, partitions, deadLetters }: Standing) {
  return (
    <div className={classes.page}>
      <Panel title="Executors">
        {executors.length === 0 ? (
          <div className={classes.ways}>
            <p>No executor was heard of in the last day: nothing begins until one is there.</p>
            <Command text="tidegate executor" />
          </div>
        ) : (
          <ExecutorTable executors={executors} />
        )}
      </Panel>
      <Panel title="Partitions">
        <PartitionTable partitions={partitions} executors={executors} />
        <div className={classes.cli}>
          <Command text="tidegate execution partitions" />
        </div>
      </Panel>
      <Panel title="Dead inputs">
        <p>
          {Number(deadLetters) === 0 ? "None waits for somebody. " : ""}
          <Link to="/executors/dead-inputs" className={classes.inText}>
            {Number(deadLetters) === 0
              ? "See those that were handled"
              : `${counted(Number(deadLetters), "input")} could not be worked in`}
          </Link>
        </p>
        <div className={classes.cli}>
          <Command text="tidegate execution dead list" />
        </div>
      </Panel>
    </div>
  );
}
