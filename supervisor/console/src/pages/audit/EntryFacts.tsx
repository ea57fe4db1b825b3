import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { Foreign } from "@/components/Foreign";
import { Icon } from "@/components/Icon";
import { RecordDialog } from "@/components/RecordDialog";
import { Stamp } from "@/components/Time";
import { Unknown } from "@/components/Unknown";
import { visible } from "@/text/visible";
import classes from "./columns.module.css";
import { addressOf, type Change, changesOf, type Entry, supervisorOf, versionOf } from "./entries";
import { Subject } from "./Subject";

const AROUND_MS = 5 * 60_000;

/** The changes of an entry in one line. */
export function ChangeList({ changes }: { changes: readonly Change[] }) {
  return changes.map(({ name, before, after }, n) => (
    <Fragment key={name}>
      {n > 0 && " · "}
      <span className={classes.dim}>{visible(name)}</span>{" "}
      <BeforeAfter before={before} after={after} />
    </Fragment>
  ));
}

function BeforeAfter({ before, after }: { before: string | null; after: string }) {
  return (
    <>
      {before !== null && (
        <>
          <Foreign>{before}</Foreign> <Icon name="steady" size={11} />{" "}
        </>
      )}
      <Foreign>{after}</Foreign>
    </>
  );
}

type Props = { entry: Entry | null; onClose: () => void };

/** The dialog with all that is on record of a change; null: it is closed. */
export function EntryDialog({ entry, onClose }: Props) {
  return (
    <RecordDialog
      title={entry === null ? "" : `${visible(entry.action)} ${visible(entry.subject)}`}
      isOpen={entry !== null}
      onClose={onClose}
    >
      {entry !== null && <EntryFacts entry={entry} />}
    </RecordDialog>
  );
}

function EntryFacts({ entry }: { entry: Entry }) {
  const address = addressOf(entry);
  const supervisor = supervisorOf(entry);
  const version = versionOf(entry);
  return (
    <dl className={classes.facts}>
      <dt>When</dt>
      <dd>
        <Stamp at={entry.at} unknown="When it was is not known." />
      </dd>
      <dt>What</dt>
      <dd>
        <Foreign>{entry.action}</Foreign>
      </dd>
      <dt>On what</dt>
      <dd>
        <Subject entry={entry} />
      </dd>
      {supervisor !== null && version !== null && (
        <>
          <dt>Fields</dt>
          <dd>
            <Link
              to="/supervisors/$id/history"
              params={{ id: supervisor }}
              search={{ sel: String(version), right: version, ...before(version) }}
            >
              what version {version} of <Foreign>{supervisor}</Foreign> changed
            </Link>
          </dd>
        </>
      )}
      {supervisor !== null && (
        <>
          <dt>In context</dt>
          <dd>
            <Link
              to="/supervisors/$id/events"
              params={{ id: supervisor }}
              search={{ since: around(entry.at, -AROUND_MS), until: around(entry.at, AROUND_MS) }}
            >
              events of <Foreign>{supervisor}</Foreign> within 5 minutes
            </Link>
          </dd>
        </>
      )}
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
        {entry.reason === null || entry.reason === undefined ? (
          <Unknown why="No reason was given." />
        ) : (
          <Foreign>{entry.reason}</Foreign>
        )}
      </dd>
      {changesOf(entry).map(({ name, before, after }) => (
        <Fragment key={name}>
          <dt>{visible(name)}</dt>
          <dd>
            <BeforeAfter before={before} after={after} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** The version on the left side of the comparison; the first one has none before it. */
function before(version: number): { left?: number } {
  return version > 1 ? { left: version - 1 } : {};
}

function around(at: string, millis: number): string {
  return new Date(Date.parse(at) + millis).toISOString();
}
