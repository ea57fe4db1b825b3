import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ListedRow } from "../data";
import type { DialogSearch } from "../search";
import { PlaceFields } from "./PlaceFields";
import { Places } from "./Places";
import { PreviewedAct } from "./PreviewedAct";
import classes from "./ResetForm.module.css";
import { type Form, formOf, judge, searchOf } from "./target";

type Props = {
  id: string;
  row: ListedRow;
  /** The values that the address fills in. */
  filled: DialogSearch;
  onClose: () => void;
};

/** Sets offsets: where to, then what that does, then the button. */
export function ResetForm({ id, row, filled, onClose }: Props) {
  const [form, setForm] = useState(() => formOf(filled));
  const navigate = useNavigate();
  const change = (part: Partial<Form>) => {
    const next = { ...form, ...part };
    setForm(next);
    void navigate({
      to: ".",
      search: (before) => ({ ...before, ...searchOf(next) }),
      replace: true,
    });
  };
  const judged = judge(form);
  return (
    <div className={classes.form}>
      <Places place={form.place} onChange={(place) => change({ place })} />
      <PlaceFields id={id} form={form} onChange={change} />
      {"lack" in judged ? (
        <p className={classes.dim} role="status">
          {judged.lack}
        </p>
      ) : (
        <PreviewedAct
          key={keyOf(judged.target)}
          id={id}
          stream={row.stream ?? ""}
          table={row.dataSource}
          target={judged.target}
          onClose={onClose}
        />
      )}
    </div>
  );
}

/** Another place has another preview, which was not read yet. */
function keyOf(target: object): string {
  return JSON.stringify(target, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
}
