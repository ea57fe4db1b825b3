import { useEffect, useId, useRef } from "react";
import { visible } from "@/text/visible";
import type { Schema } from "../document/schema";
import { EffectMark } from "../EffectMark";
import type { Trouble } from "../editor/problems";
import { fieldName, shown } from "../facts";
import classes from "./FieldRow.module.css";
import type { FormField } from "./fields";
import type { FieldState, Kind } from "./values";

type Props = {
  field: FormField;
  about: Schema | null;
  kind: Kind;
  state: FieldState;
  /** What it was in the version that the draft began from; null: it is the same. */
  was: string | null;
  errors: readonly Trouble[];
  /** Whether a step led to it; the first one is scrolled to. */
  isLedTo: boolean;
  isFirst: boolean;
  isReadOnly: boolean;
  onInput: (input: string) => void;
  onJson: () => void;
};

/** One field: its title and name, the input with default and unit, what a change of it disturbs. */
export function FieldRow(props: Props) {
  const { field, about, state, was, errors, isLedTo, isFirst, isReadOnly, kind } = props;
  const id = useId();
  const row = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is another element for another kind
  useEffect(() => {
    if (isFirst) {
      row.current?.scrollIntoView({ block: "center" });
      document.getElementById(id)?.focus({ preventScroll: true });
    }
  }, [isFirst, id, isReadOnly, kind]);
  const effect = about?.["x-tidegate-effect"];
  const name = fieldName(field.path);
  return (
    <div
      ref={row}
      className={classes.row}
      data-changed={was !== null}
      data-wrong={errors.length > 0}
      data-led={isLedTo}
    >
      <div className={classes.name}>
        <label htmlFor={id}>{field.title ?? about?.title ?? name}</label>
        <code>{name}</code>
      </div>
      <div className={classes.input}>
        {state.is === "nested" ? (
          <button id={id} type="button" className={classes.nested} onClick={props.onJson}>
            {sizeOf(state)}: edit in the JSON
          </button>
        ) : (
          <Input {...props} id={id} />
        )}
        {about?.["x-tidegate-unit"] !== undefined && (
          <span className={classes.unit}>{about["x-tidegate-unit"]}</span>
        )}
      </div>
      <div className={classes.effect}>
        {field.isFixed ? (
          <span className={classes.dim}>cannot change</span>
        ) : (
          effect !== undefined && <EffectMark effect={effect} />
        )}
      </div>
      <div className={classes.notes} id={`${id}-notes`}>
        {isLedTo && <p className={classes.was}>This is the field to change.</p>}
        {was !== null && <p className={classes.was}>was {visible(was)}</p>}
        {errors.map(({ message, hint }) => (
          <p key={message} className={classes.wrong}>
            {visible(message)}
            {hint !== "" && `: ${visible(hint)}`}
          </p>
        ))}
        {about?.description !== undefined && <p>{about.description}</p>}
      </div>
    </div>
  );
}

type InputProps = Props & { id: string };

function Input({ id, field, about, kind, state, errors, isReadOnly, onInput }: InputProps) {
  const words = kind === "flag" ? ["true", "false"] : field.words;
  const preset = about !== null && "default" in about ? shown(about.default) : null;
  const shared = {
    id,
    className: classes.control,
    value: state.value,
    "aria-describedby": `${id}-notes`,
    "aria-invalid": errors.length > 0,
  };
  if (words === undefined || field.isFixed) {
    return (
      <input
        {...shared}
        type="text"
        inputMode={kind === "whole" ? "numeric" : "text"}
        autoComplete="off"
        spellCheck={false}
        readOnly={isReadOnly || field.isFixed === true}
        placeholder={preset === null || preset === "null" ? "" : `default ${unquoted(preset)}`}
        onChange={({ currentTarget }) => onInput(currentTarget.value)}
      />
    );
  }
  const others = state.value === "" || words.includes(state.value) ? [] : [state.value];
  return (
    <select
      {...shared}
      disabled={isReadOnly}
      onChange={({ currentTarget }) => onInput(currentTarget.value)}
    >
      <option value="">{preset === null ? "not set" : `default: ${unquoted(preset)}`}</option>
      {[...words, ...others].map((word) => (
        <option key={word} value={word}>
          {visible(word)}
        </option>
      ))}
    </select>
  );
}

function sizeOf(state: Extract<FieldState, { is: "nested" }>): string {
  if (!state.isList) {
    return "An object";
  }
  return state.size === 1 ? "1 entry" : `${state.size} entries`;
}

function unquoted(json: string): string {
  return json.replaceAll('"', "");
}
