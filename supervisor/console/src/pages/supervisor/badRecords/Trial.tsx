import { useMutation } from "@tanstack/react-query";
import { ask } from "@/api/client";
import { writeJson } from "@/api/json";
import { missing, useMe } from "@/api/me";
import type { Problem } from "@/api/problem";
import { Barred } from "@/components/Barred";
import { Mark } from "@/components/Mark";
import { ProblemNote } from "@/components/ProblemNote";
import { visible } from "@/text/visible";
import { useRow } from "../data";
import classes from "./BadRecords.module.css";
import { sampleOf } from "./policy";
import type { RecordPlace } from "./search";

type Sample = { data: readonly SampledRow[] };
type SampledRow = {
  parsed?: Readonly<Record<string, unknown>> | null;
  error?: string | null;
  reason?: string | null;
};

type Props = { id: string; place: RecordPlace; spec: unknown };

/** What today's spec makes of a record: a worker reads it from Kafka again. */
export function Trial({ id, place, spec }: Props) {
  const me = useMe();
  const row = useRow(id);
  const body = sampleOf(spec, place);
  const trial = useMutation<Sample, Problem>({
    mutationFn: async () => {
      const { data: sample } = await ask("/druid/indexer/v1/sampler", { body: body as never });
      return sample as unknown as Sample;
    },
  });
  const why = body === null ? "Its spec is not known now." : missing(me, "apply", tableOf(row));
  return (
    <section className={classes.trial} aria-label="With today's spec">
      <Barred size="compact-xs" why={why} loading={trial.isPending} onClick={() => trial.mutate()}>
        Try with today's spec
      </Barred>
      {trial.error !== null && <ProblemNote problem={trial.error} />}
      {trial.data !== undefined && <Outcome row={trial.data.data[0]} />}
    </section>
  );
}

function tableOf(row: { dataSource: string | null } | null | undefined): string | null {
  return row?.dataSource ?? null;
}

function Outcome({ row }: { row: SampledRow | undefined }) {
  if (row === undefined) {
    return <p>Kafka does not hold the record any more; what is kept of it is above.</p>;
  }
  if (row.parsed == null) {
    return (
      <p>
        <Mark tone="broken" icon="broken">
          no row
        </Mark>{" "}
        {visible(row.error ?? row.reason ?? "it has no value")}
      </p>
    );
  }
  return (
    <>
      <Mark tone="good" icon="done">
        a row
      </Mark>
      <dl className={classes.row}>
        {Object.entries(row.parsed).map(([name, value]) => (
          <div key={name}>
            <dt>{visible(name)}</dt>
            <dd>{value === null ? "null" : visible(textOf(value))}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function textOf(value: unknown): string {
  return typeof value === "object" ? writeJson(value) : String(value);
}
