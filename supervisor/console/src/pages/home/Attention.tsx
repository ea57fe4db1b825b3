import { Link } from "@tanstack/react-router";
import type { AttentionItem } from "@/api/overview";
import { Foreign } from "@/components/Foreign";
import { SeverityMark } from "@/components/Mark";
import { Prose } from "@/components/Prose";
import { Remedies } from "@/components/remedy/Remedies";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Lasting } from "@/components/Time";
import { WorkerLink } from "@/components/WorkerLink";
import type { PartitionsSearch } from "../supervisor/search";
import classes from "./Attention.module.css";
import { mentions } from "./mentions";

/** Items that need somebody: what, in words, since when, and the steps that may help. */
export function Attention({ items }: { items: readonly AttentionItem[] }) {
  return (
    <ul className={classes.list}>
      {keyed(items).map(([key, item]) => (
        <li key={key} className={classes.item} data-severity={item.severity}>
          <SeverityMark severity={item.severity} />
          <div className={classes.words}>
            <Sentence item={item} />
          </div>
          <span className={classes.since}>
            <Lasting at={item.since} unknown="When it began is not known." />
          </span>
          <span className={classes.steps}>
            <Remedies
              remedies={item.remedies}
              table={item.dataSource}
              supervisor={item.about.kind === "supervisor" ? item.about.id : null}
            />
          </span>
        </li>
      ))}
    </ul>
  );
}

/**
 * Items with a name that stays while the figures in their sentences change: else what is open in
 * one would close with each answer.
 */
export function keyed(items: readonly AttentionItem[]): [string, AttentionItem][] {
  const seen = new Map<string, number>();
  return items.map((item) => {
    const name = `${item.kind} ${item.about.kind} ${item.about.id}`;
    const number = seen.get(name) ?? 0;
    seen.set(name, number + 1);
    return [`${name} ${number}`, item];
  });
}

/** The item's sentence, in which the thing that it is about is marked, and leads there. */
function Sentence({ item }: { item: AttentionItem }) {
  const { about, text, supervisors } = item;
  const partitions = item.partitions ?? [];
  const names = partitions.map(({ partition }) => `partition ${partition}`);
  const [before, name, after] = around(text, about.id);
  return (
    <>
      {before !== "" && <Prose>{before}</Prose>}
      {name !== "" && (
        <strong>
          <Subject item={item} name={name} />
        </strong>
      )}
      {mentions(after, about.kind === "supervisor" ? names : supervisors).map((piece) =>
        piece.isName ? (
          <Named key={piece.at} item={item} name={piece.text} />
        ) : (
          <Prose key={piece.at}>{piece.text}</Prose>
        ),
      )}
    </>
  );
}

/** What a sentence mentions besides its subject: a partition of it, or another supervisor. */
function Named({ item: { about, kind, partitions }, name }: { item: AttentionItem; name: string }) {
  const named = partitions?.find(({ partition }) => `partition ${partition}` === name);
  return about.kind === "supervisor" && named !== undefined ? (
    <Link
      to="/supervisors/$id/partitions"
      params={{ id: about.id }}
      search={partitionsOf(kind, named)}
    >
      {name}
    </Link>
  ) : (
    <SupervisorLink id={name} />
  );
}

function Subject({
  item: { about, kind, partitions },
  name,
}: {
  item: AttentionItem;
  name: string;
}) {
  switch (about.kind) {
    case "supervisor":
      return partitions?.[0] === undefined ? (
        <SupervisorLink id={name} />
      ) : (
        <Link
          to="/supervisors/$id/partitions"
          params={{ id: name }}
          search={partitionsOf(kind, partitions[0])}
        >
          <Foreign>{name}</Foreign>
        </Link>
      );
    case "worker":
      return <WorkerLink id={name} />;
    default:
      return <Foreign>{name}</Foreign>;
  }
}

/** The partitions that an item is about, the worst first and marked. */
export function partitionsOf(
  kind: AttentionItem["kind"],
  { topic, partition }: AttentionItem["partitions"][number],
): PartitionsSearch {
  const sel = `${topic}:${partition}`;
  return {
    only: kind.startsWith("retention-") ? "at-risk" : "behind",
    sort: kind === "retention-risk" ? "headroomMillis" : "-lagRecords",
    sel,
  };
}

/** Cuts a sentence around the first whole mention of a name. */
export function around(text: string, name: string): [string, string, string] {
  const at = name === "" ? -1 : text.indexOf(name);
  return at < 0 ? ["", "", text] : [text.slice(0, at), name, text.slice(at + name.length)];
}
