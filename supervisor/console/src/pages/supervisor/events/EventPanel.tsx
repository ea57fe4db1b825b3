import { stringify } from "lossless-json";
import { usePreferences } from "@/app/preferences";
import { Copy } from "@/components/Copy";
import { SidePanel } from "@/components/SidePanel";
import { moment, preciseClock } from "@/text/times";
import { visible } from "@/text/visible";
import { About, TypeMark } from "./columns";
import classes from "./Events.module.css";
import type { EventView } from "./feed";

type Props = {
  number: string;
  /** Undefined: it is not among those that are shown. */
  event: EventView | undefined;
  onClose: () => void;
};

/** One event: what it is about, and its document as the overlord has it. */
export function EventPanel({ number, event, onClose }: Props) {
  return (
    <SidePanel title={`Event ${number}`} onClose={onClose}>
      {event === undefined ? (
        <p>It is not among the events that are shown: it is older, or the filter leaves it out.</p>
      ) : (
        <Words event={event} />
      )}
    </SidePanel>
  );
}

function Words({ event }: { event: EventView }) {
  const { zone } = usePreferences();
  const at = new Date(event.at);
  const text = stringify(event, undefined, 2) ?? "";
  return (
    <>
      <dl className={classes.facts}>
        <dt>Type</dt>
        <dd>
          <TypeMark event={event} />
        </dd>
        <dt>Time</dt>
        <dd>
          <time dateTime={event.at}>
            {preciseClock(at, zone)}, {moment(at, zone)}
          </time>
        </dd>
        {(event.taskId ?? event.generationId) !== null && (
          <>
            <dt>About</dt>
            <dd>
              <About event={event} />
            </dd>
          </>
        )}
      </dl>
      <div className={classes.copy}>
        Its document
        <Copy text={text} what="the document" />
      </div>
      <pre className={classes.document}>{visible(text)}</pre>
    </>
  );
}
