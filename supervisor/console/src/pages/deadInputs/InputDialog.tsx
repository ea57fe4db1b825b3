import { useQuery } from "@tanstack/react-query";
import type { Permission } from "@/api/me";
import { apiQuery } from "@/api/query";
import type { DeadInput } from "@/changes/deadInputs";
import { Foreign } from "@/components/Foreign";
import { QueryView } from "@/components/QueryView";
import { RecordDialog } from "@/components/RecordDialog";
import { RecordFacts, RecordText } from "@/components/RecordFacts";
import { Stamp } from "@/components/Time";
import { bytes } from "@/text/sizes";
import { AddressedTo, InputVerbs } from "./columns";
import classes from "./deadInputs.module.css";

type Props = {
  /** Its offset; undefined: none is open. */
  name: string | undefined;
  lackFor: (permission: Permission | null) => string | null;
  onClose: () => void;
};

/** A dead input: why it could not be worked in, its text, and what was done with it. */
export function InputDialog(props: Props) {
  const { name, onClose } = props;
  return (
    <RecordDialog title={`Dead input ${name ?? ""}`} isOpen={name !== undefined} onClose={onClose}>
      {name !== undefined && <Content {...props} name={name} />}
    </RecordDialog>
  );
}

function Content({ name, lackFor, onClose }: Props & { name: string }) {
  const query = useQuery(
    apiQuery("/api/v1/executor/dead/{offset}", { path: { offset: name as unknown as number } }),
  );
  return (
    <QueryView query={query} lines={6}>
      {(input) => (
        <>
          <RecordFacts>
            <dt>Reason</dt>
            <dd>
              <Foreign>{input.reason}</Foreign>
            </dd>
            <dt>For</dt>
            <dd>
              <AddressedTo input={input} />
            </dd>
            <dt>Read from</dt>
            <dd>{originOf(input)}</dd>
            <dt>Set aside</dt>
            <dd>
              <Stamp at={input.at} unknown="When is not known." />
            </dd>
            <dt>Size</dt>
            <dd>{bytes(input.bytes)}</dd>
            {input.handled !== null && (
              <>
                <dt>Last done</dt>
                <dd>
                  <Handled handled={input.handled} />
                </dd>
              </>
            )}
          </RecordFacts>
          <RecordText label="Text">{input.body}</RecordText>
          <div className={classes.end}>
            <InputVerbs input={input} lackFor={lackFor} onBegin={onClose} />
          </div>
        </>
      )}
    </QueryView>
  );
}

/** Where an input was read. */
export function originOf({ partition, position }: DeadInput): string {
  return position === null
    ? `partition ${partition}, from no topic`
    : `partition ${partition} of the history, at offset ${position}`;
}

function Handled({ handled }: { handled: NonNullable<DeadInput["handled"]> }) {
  const { verb, by, reason, at } = handled;
  return (
    <>
      {verb === "drop" ? "dropped" : "sent once more"}
      {" by "}
      <Foreign>{by}</Foreign>, <Stamp at={at} unknown="When is not known." />
      {reason !== "" && (
        <>
          {" · reason: "}
          <Foreign>{reason}</Foreign>
        </>
      )}
    </>
  );
}
