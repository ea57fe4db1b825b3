import { useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import { missing, useMe } from "@/api/me";
import { neededFor } from "@/components/action/action";
import { useRow } from "../data";
import type { SpecView } from "../search";
import { useChecking } from "./check";
import classes from "./Desk.module.css";
import { Differences } from "./Differences";
import { applied } from "./document/edit";
import { useDraft, type Version } from "./draft";
import { fixOf, type Trouble, troublesOf } from "./editor/problems";
import { SpecEditor } from "./editor/SpecEditor";
import { SpecForm } from "./form/SpecForm";
import { useJudging } from "./judge";
import { Leaving } from "./Leaving";
import { isInForm, offsetOf } from "./led";
import { newestKey, useSpecSchema } from "./newest";
import { Proposal } from "./Proposal";
import { CheckPane } from "./pane/CheckPane";
import { Verdict } from "./pane/Verdict";
import { APPLY } from "./save/requests";
import { SaveDialog } from "./save/SaveDialog";
import { ThreeWay } from "./save/ThreeWay";
import { Toolbar } from "./Toolbar";

type Props = { id: string; newest: Version };

/** The draft in one of its views, and beside it what the overlord thinks of it. */
export function Desk({ id, newest }: Props) {
  const { view = "form", field, value } = useLed();
  const navigate = useNavigate({ from: "/supervisors/$id/spec" });
  const client = useQueryClient();
  const me = useMe();
  const row = useRow(id);
  const schema = useSpecSchema();
  const drafting = useDraft(id, newest);
  const { text } = drafting;
  const lack = missing(me, neededFor("post", APPLY), row?.dataSource ?? null);
  const judging = useJudging(text, newest.tag, lack === null);
  const checking = useChecking();
  const [dialog, setDialog] = useState<"save" | "merge" | null>(null);
  const [target, setTarget] = useState<{ offset: number } | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is shown once, not with each letter
  useEffect(() => {
    if (field !== undefined) {
      setTarget({ offset: offsetOf(text, field) });
    }
  }, [field]);
  const errors = judging.judged?.errors;
  const troubles = useMemo(
    () => ("document" in judging.read && errors ? troublesOf(text, errors) : []),
    [text, errors, judging.read],
  );
  const show = (next: SpecView) =>
    void navigate({ search: (before) => ({ ...before, view: next }), replace: true });
  const readNewest = () => client.invalidateQueries({ queryKey: newestKey(id) });
  return (
    <div className={classes.desk}>
      <Toolbar
        {...{ id, view, drafting, judging, lack }}
        isChecking={checking.isRunning}
        onView={show}
        onCheck={() => checking.run(text)}
        onSave={() => setDialog("save")}
        onCompare={() => setDialog("merge")}
      />
      {field !== undefined && (
        <Proposal
          {...{ text, field, value, lack }}
          onTake={drafting.edit}
          onClose={() =>
            void navigate({
              search: (before) => ({ ...before, field: undefined, value: undefined }),
              replace: true,
            })
          }
        />
      )}
      <div className={classes.parts}>
        <div className={classes.main}>
          {view === "json" && (
            <SpecEditor
              {...{ text, schema, troubles, target }}
              isReadOnly={lack !== null}
              onChange={drafting.edit}
            />
          )}
          {view === "form" && (
            <SpecForm
              {...{ text, schema, troubles }}
              base={drafting.base.text}
              led={field}
              isReadOnly={lack !== null}
              onChange={drafting.edit}
              onJson={(offset) => {
                setTarget({ offset });
                show("json");
              }}
            />
          )}
          {view === "diff" && <Differences drafting={drafting} judging={judging} />}
        </div>
        <div className={classes.pane}>
          <Verdict
            {...{ judging, troubles, lack }}
            isBrief={view === "diff"}
            onFix={(trouble: Trouble) =>
              drafting.edit(applied(text, fixOf(text, trouble)?.edit ?? null))
            }
            onShow={({ range }) => {
              setTarget({ offset: range.from });
              show("json");
            }}
          />
          <CheckPane checking={checking} text={text} />
        </div>
      </div>
      {judging.judged && (
        <SaveDialog
          {...{ id, drafting }}
          judged={judging.judged}
          isOpen={dialog === "save"}
          onStored={async () => {
            await readNewest();
            drafting.discard();
          }}
          onOutdated={() => void readNewest().then(() => setDialog("merge"))}
          onClose={() => setDialog(null)}
        />
      )}
      <ThreeWay {...{ id, drafting }} isOpen={dialog === "merge"} onClose={() => setDialog(null)} />
      <Leaving id={id} isChanged={drafting.isChanged} onDiscard={drafting.discard} />
    </div>
  );
}

/** The view of the address, and the field that a step led to: it is shown where it can be changed. */
function useLed() {
  const search = useSearch({ from: "/shell/supervisors/$id/spec" });
  const { field, view } = search;
  const isJson = view === undefined && field !== undefined && !isInForm(field);
  return isJson ? { ...search, view: "json" as const } : search;
}
