import type { AttentionItem } from "@/api/overview";
import { Foreign } from "@/components/Foreign";
import { SeverityMark } from "@/components/Mark";
import { Remedies } from "@/components/remedy/Remedies";
import { SupervisorLink } from "@/components/SupervisorLink";
import { Age } from "@/components/Time";
import { visible } from "@/text/visible";
import classes from "./Attention.module.css";

/** Items that need somebody: what, in words, since when, and the steps that may help. */
export function Attention({ items }: { items: readonly AttentionItem[] }) {
  return (
    <ul className={classes.list}>
      {items.map((item) => (
        <li
          key={`${item.kind} ${item.about.kind} ${item.about.id} ${item.text}`}
          className={classes.item}
          data-severity={item.severity}
        >
          <SeverityMark severity={item.severity} />
          <div className={classes.words}>
            <About item={item} /> <span>{visible(item.text)}</span>
          </div>
          <span className={classes.since}>
            <Age at={item.since} unknown="When it began is not known." />
          </span>
          <Remedies
            remedies={item.remedies}
            table={null}
            supervisor={item.about.kind === "supervisor" ? item.about.id : null}
          />
        </li>
      ))}
    </ul>
  );
}

function About({ item: { about } }: { item: AttentionItem }) {
  if (about.kind === "supervisor") {
    return (
      <strong>
        <SupervisorLink id={about.id} />
      </strong>
    );
  }
  return about.id === "" ? null : (
    <strong>
      {about.kind} <Foreign>{about.id}</Foreign>
    </strong>
  );
}
