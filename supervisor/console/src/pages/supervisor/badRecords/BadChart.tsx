import { usePreferences } from "@/app/preferences";
import { Foreign } from "@/components/Foreign";
import { Chip } from "@/components/filters/Chip";
import { Panel } from "@/components/Panel";
import { day, minute } from "@/text/days";
import { exact } from "@/text/numbers";
import type { Zone } from "@/text/times";
import { visible } from "@/text/visible";
import classes from "./BadChart.module.css";
import type { BadRecordsSearch } from "./search";
import { colouredOf, type Slot, type Summary, slotsOf } from "./summary";

const SHOWN = 500;

type Props = {
  summary: Summary;
  search: BadRecordsSearch;
  onChange: (part: Partial<BadRecordsSearch>) => void;
};

/** Bars by the time that records had in Kafka, stacked by reason; the same as a table. */
export function BadChart({ summary, search, onChange }: Props) {
  const { zone } = usePreferences();
  const { buckets, bucket, truncated, undated } = summary;
  const [first, last] = [buckets[0], buckets.at(-1)];
  if (first === undefined || last === undefined) {
    return null;
  }
  const written = (start: string) => timeOf(start, bucket, zone);
  return (
    <Panel
      title="By time in Kafka"
      aside={
        <span className={classes.widths}>
          {(["hour", "day"] as const).map((width) => (
            <Chip
              key={width}
              isOn={(search.by ?? "hour") === width}
              onClick={() => onChange({ by: width === "hour" ? undefined : width })}
            >
              by {width}
            </Chip>
          ))}
        </span>
      }
    >
      <div className={classes.chart} aria-hidden="true">
        {slotsOf(summary).map((slot) =>
          slot.kind === "gap" ? (
            <span key={slot.from} className={classes.gap} title="None between">
              ⋯
            </span>
          ) : (
            <Bar key={slot.start} slot={slot} title={written(slot.start)} />
          ),
        )}
      </div>
      <div className={classes.ends}>
        <span>{written(first.start)}</span>
        <span className={classes.key}>
          {colouredOf(summary).map((name, colour) => (
            <span key={name}>
              <svg className={classes.sample} aria-hidden="true" focusable="false">
                <rect data-colour={colour} width="100%" height="100%" />
              </svg>
              {visible(name)}
            </span>
          ))}
        </span>
        <span>{buckets.length > 1 && written(last.start)}</span>
      </div>
      {(truncated || undated > 0) && (
        <p className={classes.dim}>
          {truncated && "Only the newest are drawn. "}
          {undated > 0 && `${exact(undated)} have no time that is known.`}
        </p>
      )}
      <details>
        <summary>As a table</summary>
        <Counts summary={summary} written={written} />
      </details>
    </Panel>
  );
}

function Bar({ slot, title }: { slot: Extract<Slot, { kind: "bar" }>; title: string }) {
  let top = 1;
  return (
    <svg className={classes.bar} aria-hidden="true" focusable="false">
      <title>{`${title}: ${exact(slot.records)}`}</title>
      {slot.parts.map(({ colour, share }) => {
        top -= share;
        return (
          <rect
            key={colour}
            data-colour={colour}
            y={percent(top)}
            width="100%"
            height={percent(share)}
          />
        );
      })}
    </svg>
  );
}

type CountsProps = { summary: Summary; written: (start: string) => string };

function Counts({ summary, written }: CountsProps) {
  const rows = [...summary.buckets]
    .reverse()
    .flatMap(({ start, counts }) => counts.map((count) => ({ start, ...count })));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
    <section className={classes.place} tabIndex={0} aria-label="Counts of bad records">
      <table className={classes.table} aria-label="Counts of bad records">
        <thead>
          <tr>
            {["From", "Reason", "Partition", "Records"].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SHOWN).map(({ start, reason, topic, partition, records }) => (
            <tr key={`${start} ${reason} ${topic}:${partition}`}>
              <td>{written(start)}</td>
              <td>
                <Foreign>{reason}</Foreign>
              </td>
              <td>
                <Foreign>{`${topic}:${partition}`}</Foreign>
              </td>
              <td>{exact(records)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > SHOWN && <p>{`and ${exact(rows.length - SHOWN)} more`}</p>}
    </section>
  );
}

function timeOf(start: string, bucket: Summary["bucket"], zone: Zone): string {
  const at = new Date(start);
  return bucket === "day" && zone === "utc" ? day(at, zone) : minute(at, zone);
}

function percent(share: number): string {
  return `${(Math.max(share, 0) * 100).toFixed(2)}%`;
}
