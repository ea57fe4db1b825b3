import { TextInput } from "@mantine/core";
import { modals } from "@mantine/modals";
import { useState } from "react";
import { answerOf, type RunName } from "@/changes/executions";
import { ActionForm } from "@/components/action/ActionDialog";
import { DialogHead } from "@/components/action/DialogHead";
import { Foreign } from "@/components/Foreign";
import { visible } from "@/text/visible";
import classes from "./execution.module.css";

type Props = { name: RunName; question: string; yes: boolean };

const COMMENT_MAX = 1_000;

/** Opens the dialog in which an `approve` step is answered. */
export function openAnswer(name: RunName, question: string, yes: boolean): void {
  modals.open({
    withCloseButton: false,
    size: "lg",
    children: (
      <>
        <DialogHead>{`Say ${yes ? "yes" : "no"} to ${visible(name.step)}`}</DialogHead>
        <AnswerForm name={name} question={question} yes={yes} />
      </>
    ),
  });
}

function AnswerForm({ name, question, yes }: Props) {
  const [comment, setComment] = useState("");
  const answer = { yes, comment: comment.trim() };
  return (
    <div className={classes.answer}>
      <p>
        <Foreign>{question}</Foreign>
      </p>
      <TextInput
        label="Comment (optional; later steps can read it)"
        value={comment}
        maxLength={COMMENT_MAX}
        autoComplete="off"
        onChange={({ currentTarget }) => setComment(currentTarget.value)}
      />
      {/* Another comment is another request: it has a key of its own. */}
      <ActionForm
        key={JSON.stringify(answer)}
        action={answerOf(name, answer)}
        onClose={modals.closeAll}
      />
    </div>
  );
}
