import { useQuery } from "@tanstack/react-query";
import { stringify } from "lossless-json";
import { apiQuery } from "@/api/query";
import type { QueueName } from "@/changes/queues";
import { Foreign } from "@/components/Foreign";
import { QueryView } from "@/components/QueryView";
import { RecordDialog } from "@/components/RecordDialog";
import { RecordFacts, RecordText } from "@/components/RecordFacts";
import { Stamp } from "@/components/Time";
import { counted } from "@/text/numbers";
import { bytes } from "@/text/sizes";

type Props = { queue: QueueName; seq: number | undefined; onClose: () => void };

/** An event that was set aside, with what it carries. */
export function EventDialog({ queue, seq, onClose }: Props) {
  return (
    <RecordDialog title={`Event ${seq ?? ""}`} isOpen={seq !== undefined} onClose={onClose}>
      {seq !== undefined && <Content queue={queue} seq={seq} />}
    </RecordDialog>
  );
}

function Content({ queue, seq }: { queue: QueueName; seq: number }) {
  const query = useQuery(
    apiQuery("/api/v1/queues/{container}/{name}/failed/{seq}", { path: { ...queue, seq } }),
  );
  return (
    <QueryView query={query} lines={6}>
      {({ key, reason, attempts, sizeBytes, enqueuedAt, failedAt, payload, payloadBase64 }) => (
        <>
          <RecordFacts>
            <dt>About</dt>
            <dd>
              <Foreign>{key}</Foreign>
            </dd>
            <dt>Reason</dt>
            <dd>
              <Foreign>{reason}</Foreign>
            </dd>
            <dt>Tried</dt>
            <dd>{counted(attempts, "time")}</dd>
            <dt>Added</dt>
            <dd>
              <Stamp at={enqueuedAt} unknown="When is not known." />
            </dd>
            <dt>Set aside</dt>
            <dd>
              <Stamp at={failedAt} unknown="When is not known." />
            </dd>
            <dt>Payload</dt>
            <dd>{`${bytes(sizeBytes)}${payloadBase64 === null ? "" : ", not JSON: in base64"}`}</dd>
          </RecordFacts>
          <RecordText label="Payload">
            {payloadBase64 ?? stringify(payload, null, 2) ?? "null"}
          </RecordText>
        </>
      )}
    </QueryView>
  );
}
