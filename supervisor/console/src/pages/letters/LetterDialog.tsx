import { useQuery } from "@tanstack/react-query";
import type { Permission } from "@/api/me";
import { apiQuery } from "@/api/query";
import { Foreign } from "@/components/Foreign";
import { QueryView } from "@/components/QueryView";
import { RecordDialog } from "@/components/RecordDialog";
import { RecordFacts, RecordText } from "@/components/RecordFacts";
import { Stamp } from "@/components/Time";
import { bytes } from "@/text/sizes";
import { LetterVerbs, originOf } from "./columns";
import classes from "./letters.module.css";

type Props = {
  /** Partition and offset; undefined: none is open. */
  name: string | undefined;
  /** The persister that has it; undefined: any one that answers. */
  persister: string | undefined;
  lackFor: (permission: Permission | null) => string | null;
  onClose: () => void;
};

/** A dead letter: why it could not be stored, its text, and what was done with it. */
export function LetterDialog(props: Props) {
  const { name, onClose } = props;
  return (
    <RecordDialog title={`Dead letter ${name ?? ""}`} isOpen={name !== undefined} onClose={onClose}>
      {name !== undefined && <Content {...props} name={name} />}
    </RecordDialog>
  );
}

function Content({ name, persister, lackFor, onClose }: Props & { name: string }) {
  const [partition, offset] = name.split("-");
  const path = { partition: partition as unknown as number, offset: offset as unknown as number };
  const query = useQuery(
    apiQuery("/api/v1/dead-letters/{partition}/{offset}", {
      path,
      ...(persister === undefined ? {} : { query: { persister } }),
    }),
  );
  return (
    <QueryView query={query} lines={6}>
      {(letter) => (
        <>
          <RecordFacts>
            <dt>Reason</dt>
            <dd>
              <Foreign>{letter.reason}</Foreign>
            </dd>
            <dt>Read from</dt>
            <dd>
              <Foreign>{originOf(letter)}</Foreign>
            </dd>
            <dt>Key</dt>
            <dd>{letter.key === null ? "none" : <Foreign>{letter.key}</Foreign>}</dd>
            <dt>Kept</dt>
            <dd>
              <Stamp at={letter.at} unknown="When is not known." />
            </dd>
            <dt>Text</dt>
            <dd>{`${bytes(letter.bytes)}${letter.cut ? ", of which the beginning is shown" : ""}`}</dd>
            {letter.handled !== null && (
              <>
                <dt>Last done</dt>
                <dd>
                  <Handled handled={letter.handled} />
                </dd>
              </>
            )}
          </RecordFacts>
          <RecordText label="Text">{letter.body}</RecordText>
          <div className={classes.end}>
            <LetterVerbs
              of={{ letter, persister: persister ?? "" }}
              lackFor={lackFor}
              onBegin={onClose}
            />
          </div>
        </>
      )}
    </QueryView>
  );
}

type HandledProps = {
  handled: {
    verb: string;
    outcome: string;
    detail: string;
    by: string;
    reason: string;
    at: string;
  };
};

function Handled({ handled: { verb, outcome, detail, by, reason, at } }: HandledProps) {
  return (
    <>
      <Foreign>{verb === "drop" ? "dropped" : `replay: ${outcome}`}</Foreign>
      {" by "}
      <Foreign>{by}</Foreign>, <Stamp at={at} unknown="When is not known." />
      {detail !== "" && (
        <>
          {" · "}
          <Foreign>{detail}</Foreign>
        </>
      )}
      {reason !== "" && (
        <>
          {" · reason: "}
          <Foreign>{reason}</Foreign>
        </>
      )}
    </>
  );
}
