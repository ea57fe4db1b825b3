import { NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { send } from "@/api/client";
import { writeJson } from "@/api/json";
import { missing, useMe } from "@/api/me";
import { START } from "@/changes/flows";
import { ActForm, SameBy } from "@/components/action/ActForm";
import actClasses from "@/components/action/ActForm.module.css";
import { neededFor } from "@/components/action/action";
import { useAct } from "@/components/action/useAct";
import { DialogFrame } from "@/components/DialogFrame";
import { QueryView } from "@/components/QueryView";
import { visible } from "@/text/visible";
import { type FlowVersion, useGiven } from "./data";
import classes from "./flow.module.css";
import { type FlowInput, hintOf, inputsOf, textsOf, valuesOf, wrongIn } from "./inputs";
import { commandOf } from "./words";

type Props = {
  flow: FlowVersion;
  isOpen: boolean;
  /** An execution whose inputs the form begins with. */
  from: string | undefined;
  onClose: () => void;
};

/** Starts an execution of a flow: a form of its inputs, and what the overlord says of each. */
export function StartDialog({ flow, isOpen, from, onClose }: Props) {
  const given = useGiven(from);
  return (
    <DialogFrame title={`Start ${visible(flow.flow)}`} isOpen={isOpen} onClose={onClose}>
      {isOpen &&
        (from === undefined ? (
          <StartForm flow={flow} given={{}} onClose={onClose} />
        ) : (
          <QueryView query={given} lines={4}>
            {({ inputs }) => <StartForm flow={flow} given={inputs} onClose={onClose} />}
          </QueryView>
        ))}
    </DialogFrame>
  );
}

type FormProps = { flow: FlowVersion; given: unknown; onClose: () => void };

function StartForm({ flow: { flow, version, document }, given, onClose }: FormProps) {
  const me = useMe();
  const navigate = useNavigate();
  const [inputs] = useState(() => inputsOf(document));
  const [texts, setTexts] = useState(() => textsOf(inputs, given));
  const [key, setKey] = useState("");
  const started = useRef<string | null>(null);
  const body = {
    inputs: valuesOf(inputs, texts),
    ...(key.trim() === "" ? {} : { key: key.trim() }),
  };
  const act = useAct({
    queryKey: ["start", flow],
    look: null,
    send: async (idempotencyKey, { reason }) => {
      const query = reason === undefined ? {} : { reason };
      const init = { path: { flow }, query, body, key: idempotencyKey };
      started.current = (await send("post", START, init as never)).id;
    },
    done: `${visible(flow)} is started.`,
    onClose: () =>
      started.current === null
        ? onClose()
        : void navigate({
            to: "/executions/$execution",
            params: { execution: started.current },
          }),
  });
  const isFixed = act.isPending || act.isUnknown;
  const errors = act.problem?.errors ?? [];
  return (
    <ActForm
      act={act}
      verb="Start"
      confirm={null}
      lack={missing(me, neededFor("post", START), null)}
      takesReason
      onClose={onClose}
    >
      <div className={classes.fields}>
        {inputs.length === 0 && <p>It takes no inputs.</p>}
        {inputs.map((input, n) => (
          <Field
            key={input.name}
            isFirst={n === 0}
            input={input}
            text={texts[input.name] ?? ""}
            wrong={wrongIn(input.name, errors)}
            isFixed={isFixed}
            onChange={(text) => setTexts((before) => ({ ...before, [input.name]: text }))}
          />
        ))}
        <TextInput
          label="Key (optional)"
          description="One of your own: a repeat with it starts nothing, and finds the execution."
          value={key}
          maxLength={128}
          readOnly={isFixed}
          autoComplete="off"
          onChange={({ currentTarget }) => setKey(currentTarget.value)}
        />
      </div>
      <dl className={actClasses.facts}>
        <dt>Effect</dt>
        <dd>{`An execution of version ${version} begins, with these inputs.`}</dd>
        <dt>Undo</dt>
        <dd>Kill it; what its steps have done stays done.</dd>
        <SameBy
          command={commandOf(flow, inputs, texts, key)}
          request={{
            verb: "post",
            path: `/api/v1/flows/${encodeURIComponent(flow)}/executions`,
            body: writeJson(body),
          }}
          sent={act}
        />
      </dl>
    </ActForm>
  );
}

type FieldProps = {
  input: FlowInput;
  text: string;
  wrong: string | undefined;
  isFixed: boolean;
  isFirst: boolean;
  onChange: (text: string) => void;
};

/** The field of an input, by its type. */
function Field({ input, text, wrong, isFixed, isFirst, onChange }: FieldProps) {
  const { name, type, isRequired, fallback } = input;
  const shared = {
    label: visible(name),
    description: visible(hintOf(input)),
    withAsterisk: isRequired && fallback === undefined,
    error: wrong && visible(wrong),
    value: text,
    ...(isFirst ? { "data-autofocus": true } : {}),
  };
  if (type === "boolean") {
    return (
      <NativeSelect
        {...shared}
        disabled={isFixed}
        data={[
          { value: "", label: fallback === undefined ? "not given" : "the default" },
          "true",
          "false",
        ]}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  if (type === "list" || type === "object") {
    return (
      <Textarea
        {...shared}
        readOnly={isFixed}
        autosize
        minRows={2}
        maxRows={10}
        spellCheck={false}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  return (
    <TextInput
      {...shared}
      readOnly={isFixed}
      autoComplete="off"
      {...(type === "integer" ? { inputMode: "numeric" as const } : {})}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
