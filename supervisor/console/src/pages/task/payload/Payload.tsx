import { JsonText } from "@/components/JsonText";
import { Panel } from "@/components/Panel";
import { QueryView } from "@/components/QueryView";
import { usePayload, useTaskId } from "../data";

/** What the task was given, with each digit. */
export function Payload() {
  const query = usePayload(useTaskId());
  return (
    <QueryView query={query} lines={12}>
      {(payload) => (
        <Panel title="Payload">
          <JsonText value={payload} label="JSON of the payload" />
        </Panel>
      )}
    </QueryView>
  );
}
