import { TextInput } from "@mantine/core";
import { useState } from "react";
import type { Exact } from "@/api/json";
import { SAFETY_MS } from "@/api/query";
import { useApi } from "@/api/use";
import { Foreign } from "@/components/Foreign";
import { QueryView } from "@/components/QueryView";
import { Unknown } from "@/components/Unknown";
import { exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import { distance } from "../partitions/bar";
import classes from "./ResetForm.module.css";

/** So many fields are shown; a filter finds the others, and JSON takes all. */
const SHOWN = 100;

const NOTHING = "Nothing is committed yet.";
const UNKNOWN = "Kafka has not said it.";

type Offsets = Readonly<Record<string, string>>;
type Props = { id: string; offsets: Offsets; onChange: (offsets: Offsets) => void };

/** A field for the next offset of each partition; an empty one leaves it where it is. */
export function OffsetFields({ id, offsets, onChange }: Props) {
  const [filter, setFilter] = useState("");
  const path = "/api/v1/supervisors/{supervisor_id}/offsets";
  const query = useApi(path, { path: { supervisor_id: id }, query: { at: "latest" } }, SAFETY_MS);
  return (
    <QueryView query={query} lines={4}>
      {({ partitions }) => {
        const fitting = partitions.filter(
          ({ name }) => name.includes(filter) || offsets[name] !== undefined,
        );
        return (
          <div>
            {partitions.length > SHOWN && (
              <TextInput
                className={classes.fields}
                label={`Of ${exact(partitions.length)} partitions, those with`}
                value={filter}
                onChange={({ currentTarget }) => setFilter(currentTarget.value)}
              />
            )}
            <div className={classes.scroller}>
              <table className={classes.table}>
                <thead>
                  <tr>
                    <th scope="col">Partition</th>
                    <th scope="col">Committed</th>
                    <th scope="col">Latest</th>
                    <th scope="col" title="What Kafka has and is not published yet, in records.">
                      Lag
                    </th>
                    <th scope="col">Next offset</th>
                  </tr>
                </thead>
                <tbody>
                  {fitting.slice(0, SHOWN).map(({ name, committed, offset, why }) => (
                    <tr key={name}>
                      <td>
                        <Foreign>{name}</Foreign>
                      </td>
                      <Known value={committed} unknown={NOTHING} />
                      <Known value={offset} unknown={visible(why ?? UNKNOWN)} />
                      <Known
                        value={distance(committed, offset)}
                        unknown={committed === null ? NOTHING : visible(why ?? UNKNOWN)}
                      />
                      <td>
                        <input
                          className={classes.offset}
                          inputMode="numeric"
                          autoComplete="off"
                          aria-label={`Next offset of partition ${visible(name)}`}
                          placeholder="stays"
                          value={offsets[name] ?? ""}
                          onChange={({ currentTarget }) =>
                            onChange({ ...offsets, [name]: currentTarget.value })
                          }
                        />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </div>
        );
      }}
    </QueryView>
  );
}

function Known({ value, unknown }: { value: Exact | null; unknown: string }) {
  return <td>{value === null ? <Unknown why={unknown} /> : exact(value)}</td>;
}
