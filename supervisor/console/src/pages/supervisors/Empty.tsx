import { Button } from "@mantine/core";
import { exact } from "@/text/numbers";

type Props = { total: number; onClear: () => void };

/** Says that the filters leave nothing, and takes them off. */
export function Empty({ total, onClear }: Props) {
  return (
    <>
      <p>{`0 of ${exact(total)} supervisors fit the filters.`}</p>
      <Button mt="xs" onClick={onClear}>
        Clear filters
      </Button>
    </>
  );
}
