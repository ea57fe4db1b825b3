import { SegmentedControl, Switch } from "@mantine/core";
import { lazy, type ReactNode, Suspense } from "react";
import { QueryView } from "@/components/QueryView";
import { Shape } from "@/components/Shape";
import { counted } from "@/text/numbers";
import { visible } from "@/text/visible";
import type { HistorySearch } from "../search";
import { differing } from "../spec/document/values";
import { fieldName } from "../spec/facts";
import { read } from "../spec/judge";
import classes from "./Comparison.module.css";
import { useVersionText } from "./versions";

const TextDiff = lazy(async () => ({
  default: (await import("@/components/code/TextDiff")).TextDiff,
}));

type Props = {
  id: string;
  left: number | undefined;
  right: number | undefined;
  search: HistorySearch;
  onChange: (part: Partial<HistorySearch>) => void;
};

const NAMED_MAX = 6;

/** Two versions of a spec, with what differs. */
export function Comparison({ id, left, right, search, onChange }: Props) {
  const [one, other] = [useVersionText(id, left), useVersionText(id, right)];
  const isUnified = search.diff !== "side";
  if (left === undefined || right === undefined) {
    return (
      <Frame title="Comparison">
        <p className={classes.empty}>There is one version only: nothing to compare it with yet.</p>
      </Frame>
    );
  }
  const controls = (
    <>
      <Switch
        label="Only changes"
        checked={search.all === undefined}
        onChange={({ currentTarget }) =>
          onChange({ all: currentTarget.checked ? undefined : "yes" })
        }
      />
      <SegmentedControl
        aria-label="Form of the comparison"
        value={isUnified ? "unified" : "side"}
        onChange={(value) => onChange({ diff: value === "side" ? "side" : undefined })}
        data={[
          { value: "unified", label: "Unified" },
          { value: "side", label: "Side by side" },
        ]}
      />
    </>
  );
  return (
    <Frame title={`From version ${left} to version ${right}`} aside={controls}>
      <QueryView query={one} lines={6}>
        {(before) => (
          <QueryView query={other} lines={6}>
            {(after) =>
              before === null || after === null ? (
                <p className={classes.empty}>
                  Version {before === null ? left : right} is not stored, or you may not read it.
                </p>
              ) : (
                <>
                  <p className={classes.summary}>{summaryOf(before, after)}</p>
                  {before !== after && (
                    <Suspense fallback={<Shape lines={6} />}>
                      <TextDiff
                        left={before}
                        right={after}
                        leftLabel={`Version ${left}`}
                        rightLabel={`Version ${right}`}
                        isUnified={isUnified}
                        onlyChanges={search.all === undefined}
                      />
                    </Suspense>
                  )}
                </>
              )
            }
          </QueryView>
        )}
      </QueryView>
    </Frame>
  );
}

type FrameProps = { title: string; aside?: ReactNode; children: ReactNode };

function Frame({ title, aside, children }: FrameProps) {
  return (
    <section className={classes.frame} aria-label="Comparison of two versions">
      <header className={classes.head}>
        <h2>{title}</h2>
        <div className={classes.controls}>{aside}</div>
      </header>
      <div className={classes.body}>{children}</div>
    </section>
  );
}

/** Says which fields differ. */
function summaryOf(left: string, right: string): string {
  const [one, other] = [read(left), read(right)];
  if ("error" in one || "error" in other) {
    return "One of them is no JSON.";
  }
  const names = differing([one.document, other.document]).map(({ pointer }) =>
    visible(fieldName(pointer)),
  );
  if (names.length === 0) {
    return "They say the same.";
  }
  const more = names.length > NAMED_MAX ? `, and ${names.length - NAMED_MAX} more` : "";
  const verb = names.length === 1 ? "differs" : "differ";
  return `${counted(names.length, "field")} ${verb}: ${names.slice(0, NAMED_MAX).join(", ")}${more}.`;
}
