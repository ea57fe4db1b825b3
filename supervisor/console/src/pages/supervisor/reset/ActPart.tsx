import { Button, TextInput } from "@mantine/core";
import type { UseMutationResult } from "@tanstack/react-query";
import { missing, useMe } from "@/api/me";
import type { Problem } from "@/api/problem";
import { useContact } from "@/app/contact";
import { curlOf, neededFor } from "@/components/action/action";
import { Command } from "@/components/Command";
import { ProblemNote } from "@/components/ProblemNote";
import { exact } from "@/text/numbers";
import { RESET } from "../life/Verbs";
import { outdatedBy, requestOf, type Settled } from "./calls";
import {
  commandOf,
  confirmOf,
  isConfirmed,
  type Preview,
  type Reading,
  totalsOf,
  undoOf,
} from "./effect";
import classes from "./ResetForm.module.css";

type Props = {
  id: string;
  stream: string;
  table: string | null;
  settled: Settled;
  reading: Reading;
  typed: string;
  requestKey: string;
  act: UseMutationResult<Preview, Problem, void>;
  onType: (text: string) => void;
  onRead: () => void;
  onAct: () => void;
  onClose: () => void;
};

/** What is given up, how it is undone, the same by other means, and the button. */
export function ActPart(props: Props) {
  const { id, stream, table, settled, reading, typed, requestKey, act } = props;
  const me = useMe();
  const { state } = useContact();
  const shown = reading.newer ?? reading.read;
  if (shown === null) {
    return null;
  }
  const lack = missing(me, neededFor("post", RESET), table);
  const wanted = confirmOf(totalsOf(shown));
  const isReady =
    lack === null && state !== "stale" && reading.newer === null && isConfirmed(typed, wanted);
  const isOutdated = act.error !== null && outdatedBy(act.error) !== null;
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !act.isPending) {
          props.onAct();
        }
      }}
    >
      {reading.newer !== null && (
        <div className={classes.changed} role="alert">
          <span>
            {isOutdated
              ? "Nothing was done: it would do something else now. What differs is marked."
              : "It would do something else now. What differs is marked."}
          </span>
          <Button onClick={props.onRead}>I have read it</Button>
        </div>
      )}
      <Facts {...{ id, stream, settled, requestKey, shown }} />
      {act.error !== null && !isOutdated && <ProblemNote problem={act.error} />}
      {lack !== null && <p role="status">{lack}</p>}
      {state === "stale" && (
        <p role="status">The overlord does not answer: nothing can be changed.</p>
      )}
      <div className={classes.end}>
        {wanted !== null && (
          <TextInput
            className={classes.confirm}
            label={`Type ${exact(BigInt(wanted))} to confirm: so many records are skipped, lost or read again`}
            value={typed}
            autoComplete="off"
            onChange={({ currentTarget }) => props.onType(currentTarget.value)}
          />
        )}
        <Button onClick={props.onClose}>Cancel</Button>
        <Button type="submit" variant="filled" loading={act.isPending} disabled={!isReady}>
          Set offsets
        </Button>
      </div>
    </form>
  );
}

type FactsProps = Pick<Props, "id" | "stream" | "settled" | "requestKey"> & { shown: Preview };

function Facts({ id, stream, settled, requestKey, shown }: FactsProps) {
  const undo = undoOf(id, stream, shown);
  const request = requestOf(id, stream, settled, shown.digest ?? "");
  return (
    <dl className={classes.facts}>
      <dt>Gives up</dt>
      <dd>{givesUpOf(shown)}</dd>
      {"backfill" in shown && (
        <>
          <dt>Beside</dt>
          <dd>
            {`A bounded supervisor in ${exact(shown.backfillTaskCount)} groups reads what is skipped, once.`}
          </dd>
        </>
      )}
      <dt>Undo</dt>
      <dd>
        {undo.words}
        {undo.command !== null && <Command text={undo.command} what="the command that undoes it" />}
      </dd>
      <dt>Command line</dt>
      <dd>
        <Command text={commandOf(id, settled.target, shown.digest ?? "")} />
      </dd>
      <dt>curl</dt>
      <dd>
        <Command text={curlOf(request, location.origin, requestKey)} what="the curl command" />
      </dd>
    </dl>
  );
}

/** Says which ranges end unpublished; their records are read again, by the ranges that follow. */
function givesUpOf({ discarded }: Preview): string {
  if (discarded.length === 0) {
    return "Nothing: no range that reads now is in the way.";
  }
  const ranges = discarded.map(({ group, offsets = [], partitions }) => {
    const parts = offsets.map(
      ({ partition, from, to }) =>
        `${partition} from ${exact(from)} ${to === null ? "on" : `to ${exact(to)}`}`,
    );
    return `group ${group} (${parts.length > 0 ? parts.join(", ") : partitions.join(", ")})`;
  });
  return `What these have read and not published is read again where the new offsets lead: ${ranges.join("; ")}.`;
}
