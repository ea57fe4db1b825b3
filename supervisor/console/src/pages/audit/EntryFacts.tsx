import { Fragment } from "react";
import { Foreign } from "@/components/Foreign";
import { Stamp } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import classes from "./columns.module.css";
import { addressOf, changesOf, type Entry } from "./entries";

/** All that is on record of a change. */
export function EntryFacts({ entry }: { entry: Entry }) {
  const address = addressOf(entry);
  return (
    <dl className={classes.facts}>
      <dt>When</dt>
      <dd>
        <Stamp at={entry.at} unknown="When it was is not known." />
      </dd>
      <dt>Who</dt>
      <dd>
        <Foreign>{entry.actor}</Foreign>
      </dd>
      <dt>From where</dt>
      <dd>
        {address === null ? <Unknown why="It is not on record." /> : <Foreign>{address}</Foreign>}
      </dd>
      <dt>Reason</dt>
      <dd>
        {entry.reason === null ? (
          <Unknown why="No reason was given." />
        ) : (
          <Foreign>{entry.reason}</Foreign>
        )}
      </dd>
      {changesOf(entry).map(({ name, before, after }) => (
        <Fragment key={name}>
          <dt>{visible(name)}</dt>
          <dd>
            <bdi>
              {before !== null && `${visible(before)} → `}
              {visible(after)}
            </bdi>
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
