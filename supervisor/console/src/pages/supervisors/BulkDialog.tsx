import { Button, TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useRef, useState } from "react";
import { useContact } from "@/app/contact";
import form from "@/components/action/ActForm.module.css";
import { commandWith, type Given } from "@/components/action/action";
import { DialogHead } from "@/components/action/DialogHead";
import { isConfirmed, labelOf } from "@/components/action/effect";
import { ReasonField } from "@/components/action/ReasonField";
import { lackOfReason } from "@/components/action/reason";
import { Command } from "@/components/Command";
import { Foreign } from "@/components/Foreign";
import { QueryView } from "@/components/QueryView";
import { counted, exact } from "@/text/numbers";
import { quoted } from "@/text/shell";
import classes from "./BulkDialog.module.css";
import { Effects, Outcomes } from "./BulkParts";
import { losesMoreNow, type Outcome } from "./bulk";
import { BULK, type BulkVerb, confirmOfMany } from "./bulkVerbs";
import { useBulk } from "./useBulk";

const NAMED = 20;

type Props = {
  verb: BulkVerb;
  ids: readonly string[];
  /** Hears what became of each. */
  onOutcome: (outcome: Outcome) => void;
};

/** Opens the dialog that does the same to many supervisors. */
export function openBulk({ verb, ids, onOutcome }: Props): void {
  const title = `${BULK[verb].word} ${counted(ids.length, "supervisor")}`;
  modals.open({
    withCloseButton: false,
    size: "lg",
    children: (
      <>
        <DialogHead>{title}</DialogHead>
        <BulkForm verb={verb} ids={ids} onOutcome={onOutcome} />
      </>
    ),
  });
}

function BulkForm({ verb, ids, onOutcome }: Props) {
  const { word, effect, undo } = BULK[verb];
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  // A second click comes before the first one is drawn.
  const isSent = useRef(false);
  const { state } = useContact();
  const given: Given = reason.trim() === "" ? {} : { reason: reason.trim() };
  const { looks, run, outcomes } = useBulk(verb, ids, given, onOutcome);
  const changed = (looks.data ?? []).filter(({ problem }) => problem === null);
  const wanted = changed.map(({ id }) => id);
  const previews = changed.flatMap(({ preview }) => (preview === null ? [] : [preview]));
  const confirm = confirmOfMany(verb, previews);
  const failed = [...outcomes.values()].filter(
    (outcome) => outcome.problem !== null && !losesMoreNow(outcome),
  );
  const isReady =
    state !== "stale" &&
    wanted.length > 0 &&
    lackOfReason(reason) === null &&
    isConfirmed(typed, confirm?.number ?? null);
  const command = commandWith(
    `tidegate supervisor ${verb} ${ids.map(quoted).join(" ")}`,
    lackOfReason(reason) === null ? given : {},
  );
  return (
    <form
      className={form.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !isSent.current) {
          isSent.current = true;
          run.mutate(wanted);
        }
      }}
    >
      <dl className={form.facts}>
        <dt>Supervisors</dt>
        <dd>
          <Names ids={ids} />
        </dd>
        <dt>Effect</dt>
        <dd>{effect}</dd>
        <dt>Undo</dt>
        <dd>{undo}</dd>
        <dt>Command line</dt>
        <dd>
          <Command text={command} />
        </dd>
      </dl>
      {run.isIdle && (
        <QueryView query={looks} lines={4}>
          {(data) => <Effects looks={data} onAgain={looks.refetch} />}
        </QueryView>
      )}
      <ReasonField reason={reason} isFixed={!run.isIdle} onChange={setReason} />
      {!run.isIdle && <Outcomes outcomes={outcomes} wanted={wanted.length} />}
      {state === "stale" && (
        <p role="status">The overlord does not answer: nothing can be changed.</p>
      )}
      <div className={form.end}>
        {run.isIdle && confirm !== null && (
          <TextInput
            className={form.confirm}
            label={labelOf(confirm)}
            value={typed}
            autoComplete="off"
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        )}
        <Button onClick={() => modals.closeAll()}>{run.isSuccess ? "Close" : "Cancel"}</Button>
        {run.isIdle && (
          <Button type="submit" variant="filled" disabled={!isReady}>
            {word}
          </Button>
        )}
        {run.isSuccess && failed.length > 0 && (
          <Button variant="filled" onClick={() => run.mutate(failed.map(({ id }) => id))}>
            Try the failed again
          </Button>
        )}
      </div>
    </form>
  );
}

/** The first of the ids, and how many more there are. */
function Names({ ids }: { ids: readonly string[] }) {
  return (
    <span className={classes.names}>
      <Foreign>{ids.slice(0, NAMED).join(", ")}</Foreign>
      {ids.length > NAMED && ` and ${exact(ids.length - NAMED)} more`}
    </span>
  );
}
