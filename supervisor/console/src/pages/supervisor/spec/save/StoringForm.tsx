import { Button, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useRef, useState } from "react";
import { newKey } from "@/api/client";
import type { Problem } from "@/api/problem";
import { useContact } from "@/app/contact";
import { Command } from "@/components/Command";
import { ProblemNote } from "@/components/ProblemNote";
import { visible } from "@/text/visible";
import { ChangesTable } from "../ChangesTable";
import type { SpecChange } from "../judge";
import classes from "./StoringForm.module.css";

/** A new version of a spec that a dialog explains before it is sent. */
export type Storing = {
  verb: string;
  /** What will happen to what runs, in a sentence. */
  effect: ReactNode;
  changes: readonly SpecChange[];
  warnings: readonly string[];
  /** The version that it acts on, and no other. */
  onVersion: string;
  undo: string;
  command: (reason: string) => string;
  curl: (reason: string, key: string) => string;
  /** What else the commands need. */
  aside?: ReactNode;
  run: (reason: string, key: string) => Promise<unknown>;
};

type Props = {
  storing: Storing;
  onDone: () => Promise<void>;
  onProblem: (problem: Problem) => void;
  onClose: () => void;
};

const REASON_MAX = 500;

/** What stands in the dialog of a new version: changes, effect, undo, reason, the same by others. */
export function StoringForm({ storing, onDone, onProblem, onClose }: Props) {
  const [reason, setReason] = useState("");
  const keys = useRef(new Map<string, string>());
  const { state } = useContact();
  const key = keyOf(keys.current, reason);
  const act = useMutation<unknown, Problem>({
    mutationFn: () => storing.run(reason.trim(), key),
    onSuccess: onDone,
    onError: onProblem,
  });
  return (
    <form
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (state !== "stale" && !act.isPending) {
          act.mutate();
        }
      }}
    >
      {storing.changes.length > 0 && <ChangesTable changes={storing.changes} />}
      {storing.warnings.map((warning) => (
        <p key={warning} className={classes.warning}>
          {visible(warning)}
        </p>
      ))}
      <TextInput
        label="Reason, kept in history, events and audit log (optional)"
        value={reason}
        maxLength={REASON_MAX}
        autoComplete="off"
        data-autofocus
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <dl className={classes.facts}>
        <dt>Effect</dt>
        <dd>{storing.effect}</dd>
        <dt>Acts on</dt>
        <dd>{storing.onVersion}</dd>
        <dt>Undo</dt>
        <dd>{storing.undo}</dd>
        <dt>Command line</dt>
        <dd>
          <Command text={storing.command(reason.trim())} />
          {storing.aside}
        </dd>
        <dt>curl</dt>
        <dd>
          <Command text={storing.curl(reason.trim(), key)} what="the curl command" />
        </dd>
      </dl>
      {act.error !== null && <ProblemNote problem={act.error} />}
      {state === "stale" && (
        <p role="status">The overlord does not answer: nothing can be changed.</p>
      )}
      <div className={classes.buttons}>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="filled" loading={act.isPending} disabled={state === "stale"}>
          {storing.verb}
        </Button>
      </div>
    </form>
  );
}

/** The key of what is sent: kept over tries, another one for another reason. */
function keyOf(keys: Map<string, string>, reason: string): string {
  const key = keys.get(reason) ?? newKey();
  keys.set(reason, key);
  return key;
}
