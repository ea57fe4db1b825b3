import { Button, TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { newKey } from "@/api/client";
import { useContact } from "@/app/contact";
import { RESUME_EFFECT, resume, SUSPEND_EFFECT, suspend } from "@/changes/supervisors";
import form from "@/components/action/ActForm.module.css";
import { commandWith, type Given } from "@/components/action/action";
import { DialogHead } from "@/components/action/DialogHead";
import { isConfirmed } from "@/components/action/effect";
import { ReasonField } from "@/components/action/ReasonField";
import { isRefusal } from "@/components/action/reading";
import { lackOfReason } from "@/components/action/reason";
import { Command } from "@/components/Command";
import { Foreign } from "@/components/Foreign";
import { Mark } from "@/components/Mark";
import { counted, exact } from "@/text/numbers";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import classes from "./BulkDialog.module.css";
import { eachOf, type Outcome, worstFirst } from "./bulk";

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
  modals.open({
    withCloseButton: false,
    size: "lg",
    children: (
      <>
        <DialogHead>{title}</DialogHead>
        <BulkForm verb={verb} ids={ids} />
      </>
    ),
  });
}

function BulkForm({ verb, ids }: { verb: Verb; ids: readonly string[] }) {
  const { word, effect, undo, act } = VERBS[verb];
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const keys = useRef(new Map<string, string>());
  // A second click comes before the first one is drawn.
  const isSent = useRef(false);
  const client = useQueryClient();
  const { state } = useContact();
  const given: Given = reason.trim() === "" ? {} : { reason: reason.trim() };
  const run = useMutation({
    mutationFn: (some: readonly string[]) =>
      eachOf(
        some,
        (id) => act(id, keyOf(keys.current, id), given),
        (outcome) => {
          if (outcome.problem !== null && isRefusal(outcome.problem)) {
            keys.current.delete(outcome.id);
          }
          setOutcomes((before) => new Map(before).set(outcome.id, outcome));
        },
        (millis) => new Promise((resolve) => setTimeout(resolve, millis)),
      ),
    onSettled: () => client.invalidateQueries(),
  });
  const failed = [...outcomes.values()].filter(({ problem }) => problem !== null);
  const isReady =
    state !== "stale" &&
    lackOfReason(reason) === null &&
    (ids.length < TYPED_FROM || isConfirmed(typed, String(ids.length)));
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
          run.mutate(ids);
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
      <ReasonField reason={reason} isFixed={!run.isIdle} onChange={setReason} />
      {!run.isIdle && <Outcomes outcomes={outcomes} wanted={ids.length} />}
      {state === "stale" && (
        <p role="status">The overlord does not answer: nothing can be changed.</p>
      )}
      <div className={form.end}>
        {run.isIdle && ids.length >= TYPED_FROM && (
          <TextInput
            className={form.confirm}
            label={`Type ${ids.length} to confirm: so many supervisors`}
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

type OutcomesProps = { outcomes: ReadonlyMap<string, Outcome>; wanted: number };

/** What became of each, the failures first. */
function Outcomes({ outcomes, wanted }: OutcomesProps) {
  const all = worstFirst([...outcomes.values()]);
  const failed = all.filter(({ problem }) => problem !== null).length;
  return (
    <div>
      <p role="status">
        {`${exact(all.length - failed)} done, ${exact(failed)} failed, ${exact(wanted - all.length)} to go`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys */}
      <section className={classes.outcomes} tabIndex={0} aria-label="What became of each">
        <ul>
          {all.map(({ id, problem }) => (
            <li key={id}>
              {problem === null ? (
                <Mark tone="good" icon="done">
                  done
                </Mark>
              ) : (
                <Mark tone="broken" icon="broken">
                  failed
                </Mark>
              )}
              <span>
                <strong>
                  <Foreign>{id}</Foreign>
                </strong>{" "}
                {visible(problem?.detail || problem?.title || "")}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </div>
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

/** The key of one item: kept while its outcome is not known, so that a lost answer does no harm. */
function keyOf(keys: Map<string, string>, id: string): string {
  const key = keys.get(id) ?? newKey();
  keys.set(id, key);
  return key;
}
