import { Button } from "@mantine/core";
import { useState } from "react";
import { DialogFrame } from "@/components/DialogFrame";
import { Mark } from "@/components/Mark";
import { visible } from "@/text/visible";
import { type MergeRow, mergedText, type Side, threeWay } from "../document/merge";
import type { Drafting } from "../draft";
import { fieldName, shown } from "../facts";
import { read } from "../judge";
import classes from "./ThreeWay.module.css";

type Props = { id: string; drafting: Drafting; isOpen: boolean; onClose: () => void };

/** Mine, the version that I began from, and the newest one: what goes into the next draft. */
export function ThreeWay({ id, drafting, isOpen, onClose }: Props) {
  return (
    <DialogFrame
      title={`${visible(id)}: somebody else has stored ${versionName(drafting.newest.number)}`}
      isOpen={isOpen}
      isWide
      onClose={onClose}
    >
      <Merge drafting={drafting} onClose={onClose} />
    </DialogFrame>
  );
}

function Merge({ drafting, onClose }: Pick<Props, "drafting" | "onClose">) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Side>>(new Map());
  const [base, mine, newest] = [drafting.base.text, drafting.text, drafting.newest.text].map(read);
  if (!base || !mine || !newest || "error" in base || "error" in mine || "error" in newest) {
    return <p>Your draft is no JSON yet. Mend it first, then compare.</p>;
  }
  const rows = threeWay(base.document, mine.document, newest.document);
  const open = rows.filter(({ by, pointer }) => by === "both" && !chosen.has(pointer)).length;
  return (
    <div className={classes.merge}>
      <p>
        Nothing of your draft is lost. What only one of you has changed goes in by itself; where
        both have, you choose.
      </p>
      <div className={classes.scroller}>
        <table className={classes.table} aria-label="Three versions">
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">{versionName(drafting.base.number)}, you began from</th>
              <th scope="col">Mine</th>
              <th scope="col">{versionName(drafting.newest.number)}, the newest</th>
              <th scope="col">Goes in</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row
                key={row.pointer}
                row={row}
                side={chosen.get(row.pointer)}
                onChoose={(side) => setChosen(new Map(chosen).set(row.pointer, side))}
              />
            ))}
          </tbody>
        </table>
      </div>
      <div className={classes.end}>
        {open > 0 && (
          <span role="status" className={classes.open}>
            {open === 1 ? "1 field is to be chosen" : `${open} fields are to be chosen`}
          </span>
        )}
        <Button onClick={onClose}>Later</Button>
        <Button
          variant="filled"
          disabled={open > 0}
          onClick={() => {
            drafting.rebase(mergedText(drafting.text, rows, chosen));
            onClose();
          }}
        >
          Go on from {versionName(drafting.newest.number)}
        </Button>
      </div>
    </div>
  );
}

type RowProps = { row: MergeRow; side: Side | undefined; onChoose: (side: Side) => void };

function Row({ row, side, onChoose }: RowProps) {
  const name = visible(fieldName(row.pointer));
  return (
    <tr data-conflict={row.by === "both"}>
      <th scope="row">{name}</th>
      <td>
        <code>{shown(row.base)}</code>
      </td>
      <td data-goes={goesIn(row, side) === "mine"}>
        <code>{shown(row.mine)}</code>
      </td>
      <td data-goes={goesIn(row, side) === "newest"}>
        <code>{shown(row.newest)}</code>
      </td>
      <td>
        {row.by === "both" ? (
          <fieldset className={classes.choice}>
            <legend className={classes.legend}>{name}</legend>
            {(["mine", "newest"] as const).map((each) => (
              <label key={each}>
                <input
                  type="radio"
                  name={row.pointer}
                  checked={side === each}
                  onChange={() => onChoose(each)}
                />
                {each}
              </label>
            ))}
          </fieldset>
        ) : (
          <Mark tone="good" icon="done">
            {WORDS[row.by]}
          </Mark>
        )}
      </td>
    </tr>
  );
}

const WORDS = { me: "mine", others: "newest", same: "both say so" } as const;

function goesIn(row: MergeRow, side: Side | undefined): Side | undefined {
  if (row.by === "both") {
    return side;
  }
  return row.by === "me" ? "mine" : "newest";
}

function versionName(number: number | null): string {
  return number === null ? "another version" : `version ${number}`;
}
