import { QueryView } from "@/components/QueryView";
import { useSupervisorId } from "../data";
import { Desk } from "./Desk";
import { useNewest } from "./newest";

/** The spec of one supervisor: to be read, changed, checked and stored as its next version. */
export function Spec() {
  const id = useSupervisorId();
  const newest = useNewest(id);
  return (
    <QueryView query={newest} lines={14}>
      {(version) => <Desk key={id} id={id} newest={version} />}
    </QueryView>
  );
}
