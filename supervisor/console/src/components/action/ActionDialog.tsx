import { modals } from "@mantine/modals";
import { Icon } from "../Icon";
import { QueryView } from "../QueryView";
import { ActForm, SameBy } from "./ActForm";
import classes from "./ActForm.module.css";
import type { Action, VerbPreview } from "./action";
import { DialogHead } from "./DialogHead";
import { EffectFacts, EffectTable } from "./Effect";
import { confirmOf } from "./effect";
import { Sentence, whole } from "./Sentence";
import { type Act, useAct } from "./useAct";

/** Opens the dialog of a change: effect, undo, the same by CLI and curl, reason, then the button. */
export function openAction(action: Action): void {
  modals.open({
    withCloseButton: false,
    size: action.preview === undefined ? "lg" : "xl",
    children: (
      <>
        <DialogHead>{action.title}</DialogHead>
        <ActionForm action={action} onClose={modals.closeAll} />
      </>
    ),
  });
}

type Props = { action: Action; onClose: () => void };

/** What stands in the dialog of a change. */
export function ActionForm({ action, onClose }: Props) {
  const { request, supervisor, preview } = action;
  const act = useAct<VerbPreview>({
    queryKey: [
      "preview",
      supervisor === undefined ? {} : { path: { supervisor_id: supervisor } },
      request,
    ],
    look: preview ?? null,
    send: action.run,
    done: action.done,
    onClose,
  });
  const form = <Explained action={action} act={act} onClose={onClose} />;
  return preview === undefined ? (
    form
  ) : (
    <QueryView query={act.looks} lines={5}>
      {() => form}
    </QueryView>
  );
}

function Explained({ action, act, onClose }: Props & { act: Act<VerbPreview> }) {
  const { shown, reading } = act;
  const typed = action.confirm === undefined ? null : { number: action.confirm, what: "" };
  return (
    <ActForm
      act={act}
      verb={action.verb}
      confirm={(shown === null ? null : confirmOf(shown)) ?? typed}
      takesReason={action.takesReason ?? false}
      onClose={onClose}
    >
      <div className={classes.effect}>
        <div>{shown === null ? action.effect : <Sentence text={shown.text} />}</div>
        {(shown?.warnings ?? []).map((warning) => (
          <div key={warning} className={classes.warning}>
            <Icon name="risk" />
            <Sentence text={warning} />
          </div>
        ))}
      </div>
      {shown !== null && <EffectTable reading={reading} />}
      <dl className={classes.facts}>
        <EffectFacts reading={reading} />
        <dt>Undo</dt>
        <dd>
          <Sentence text={whole(shown?.undo ?? action.undo)} />
        </dd>
        <SameBy command={action.command} request={action.request} sent={act} />
      </dl>
    </ActForm>
  );
}
