import { Button, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { useContact } from "@/app/contact";
import { Command } from "../Command";
import { Details, ProblemNote } from "../ProblemNote";
import classes from "./ActForm.module.css";
import { type Action, commandWith, curlOf, type Given, type Requested } from "./action";
import { type Confirm, isConfirmed, labelOf } from "./effect";
import { ReasonField } from "./ReasonField";
import { lackOfReason } from "./reason";
import type { Act } from "./useAct";

type Props<P> = {
  act: Act<P>;
  /** The word on the button. */
  verb: string;
  /** What has to be typed; null: nothing. */
  confirm: Confirm | null;
  /** What the caller lacks for it. */
  lack?: string | null;
  takesReason: boolean;
  onClose: () => void;
  /** What it does, how it is undone, the same by other means. */
  children: ReactNode;
};

/** The facts of a change, what has to be read and typed before, and the button. */
export function ActForm<P>(props: Props<P>) {
  const { act, verb, confirm, lack = null, takesReason, onClose, children } = props;
  const { state } = useContact();
  const isStale = state === "stale";
  const isReady =
    act.isReady && lack === null && !isStale && isConfirmed(act.typed, confirm?.number ?? null);
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) {
          act.go();
        }
      }}
    >
      {act.reading.newer !== null && <Changed act={act} />}
      {children}
      {act.problem !== null && <ProblemNote problem={act.problem} />}
      {act.isUnknown && (
        <p role="status">
          It is not known whether it was done. The same request again does it at most once.
        </p>
      )}
      {lack !== null && <p role="status">{lack}</p>}
      {isStale && <p role="status">The overlord does not answer: nothing can be changed.</p>}
      {takesReason && (
        <ReasonField
          reason={act.reason}
          // Another reason would be another request, beside the one that is under way.
          isFixed={act.isPending || act.isUnknown}
          onChange={act.setReason}
        />
      )}
      <div className={classes.end}>
        {confirm !== null && (
          <TextInput
            className={classes.confirm}
            label={labelOf(confirm)}
            value={act.typed}
            autoComplete="off"
            onChange={({ currentTarget }) => act.setTyped(currentTarget.value)}
          />
        )}
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="filled" loading={act.isPending} disabled={!isReady}>
          {act.isUnknown ? "Try again" : verb}
        </Button>
      </div>
    </form>
  );
}

function Changed<P>({ act }: { act: Act<P> }) {
  return (
    <div className={classes.changed} role="alert">
      {act.refusal === null ? (
        <span>It would do something else now. What differs is marked.</span>
      ) : (
        <div>
          <p>Nothing was done: it would do something else now. What differs is marked.</p>
          <Details problem={act.refusal} />
        </div>
      )}
      <Button onClick={act.acceptNewer}>I have read it</Button>
    </div>
  );
}

type SameProps = {
  command: Action["command"];
  request: Requested;
  sent: { key: string; given: Given; reason: string };
};

/** The same change by command line and curl. */
export function SameBy({ command, request, sent: { key, given, reason } }: SameProps) {
  const { reason: why, ...bound } = given;
  const good = why === undefined || lackOfReason(reason) !== null ? bound : given;
  return (
    <>
      <dt>Command line</dt>
      <dd>
        <Command text={commandWith(command, good)} />
      </dd>
      <dt>curl</dt>
      <dd>
        <Command text={curlOf(request, location.origin, key, good)} what="the curl command" />
      </dd>
    </>
  );
}
