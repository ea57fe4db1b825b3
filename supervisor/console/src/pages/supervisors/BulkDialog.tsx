import { Button, TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newKey } from "@/api/client";
import { RESUME_EFFECT, resume, SUSPEND_EFFECT, suspend } from "@/changes/supervisors";
import { Foreign } from "@/components/Foreign";
import { counted, exact } from "@/text/numbers";
import { visible } from "@/text/visible";
import classes from "./BulkDialog.module.css";
import { eachOf, type Outcome } from "./bulk";

type Verb = "suspend" | "resume";

const VERBS = {
  suspend: { word: "Suspend", effect: SUSPEND_EFFECT, undo: "Resume them.", act: suspend },
  resume: { word: "Resume", effect: RESUME_EFFECT, undo: "Suspend them again.", act: resume },
};
/** From so many on their number has to be typed. */
const TYPED_FROM = 10;
const NAMED = 20;

/** Opens the dialog that does the same to many supervisors. */
export function openBulk(verb: Verb, ids: readonly string[]): void {
  const title = `${VERBS[verb].word} ${counted(ids.length, "supervisor")}`;
  modals.open({ title, size: "lg", children: <BulkForm verb={verb} ids={ids} /> });
}

function BulkForm({ verb, ids }: { verb: Verb; ids: readonly string[] }) {
  const { word, effect, undo, act } = VERBS[verb];
  const [typed, setTyped] = useState("");
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const keys = useRef(new Map<string, string>());
  const client = useQueryClient();
  const run = useMutation({
    mutationFn: (some: readonly string[]) =>
      eachOf(
        some,
        (id) => act(id, keyOf(keys.current, id)),
        (outcome) => setOutcomes((before) => new Map(before).set(outcome.id, outcome)),
        (millis) => new Promise((resolve) => setTimeout(resolve, millis)),
      ),
    onSettled: () => client.invalidateQueries(),
  });
  const failed = [...outcomes.values()].filter(({ problem }) => problem !== null);
  const isConfirmed = ids.length < TYPED_FROM || typed.trim() === String(ids.length);
  return (
    <div className={classes.form}>
      <p>{effect}</p>
      {run.isIdle && <Names ids={ids} />}
      <p className={classes.dim}>Undo: {undo}</p>
      {!run.isIdle && (
        <p role="status">
          {`${outcomes.size - failed.length} done, ${failed.length} failed, ${ids.length - outcomes.size} to go`}
        </p>
      )}
      {failed.length > 0 && (
        <ul className={classes.failed}>
          {failed.map(({ id, problem }) => (
            <li key={id}>
              <strong>
                <Foreign>{id}</Foreign>
              </strong>{" "}
              {visible(problem?.detail || problem?.title || "")}
            </li>
          ))}
        </ul>
      )}
      {run.isIdle && ids.length >= TYPED_FROM && (
        <TextInput
          label={`Type ${ids.length} to confirm`}
          value={typed}
          autoComplete="off"
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
        />
      )}
      <div className={classes.buttons}>
        <Button onClick={() => modals.closeAll()}>{run.isSuccess ? "Close" : "Cancel"}</Button>
        {run.isIdle && (
          <Button
            variant="filled"
            data-autofocus
            disabled={!isConfirmed}
            onClick={() => run.mutate(ids)}
          >
            {word}
          </Button>
        )}
        {run.isSuccess && failed.length > 0 && (
          <Button variant="filled" onClick={() => run.mutate(failed.map(({ id }) => id))}>
            Try the failed again
          </Button>
        )}
      </div>
    </div>
  );
}

/** The first of the ids, and how many more there are. */
function Names({ ids }: { ids: readonly string[] }) {
  return (
    <p className={classes.names}>
      <Foreign>{ids.slice(0, NAMED).join(", ")}</Foreign>
      {ids.length > NAMED && ` and ${exact(ids.length - NAMED)} more`}
    </p>
  );
}

/** The key of one item: kept over tries, so that a lost answer does no harm. */
function keyOf(keys: Map<string, string>, id: string): string {
  const key = keys.get(id) ?? newKey();
  keys.set(id, key);
  return key;
}
