import { Button } from "@mantine/core";
import { exact } from "@/text/numbers";
import { FirstSteps } from "../home/FirstSteps";
import { totalOf } from "./SupervisorsPage";
import { isFiltered, type SupervisorsSearch } from "./search";

type Props = {
  search: SupervisorsSearch;
  totals: Readonly<Record<string, number>>;
  onClear: () => void;
};

/** Says why the list is empty, and the next step. */
export function Empty({ search, totals, onClear }: Props) {
  if (!isFiltered(search)) {
    return <FirstSteps />;
  }
  return (
    <>
      <p>{`0 of ${exact(totalOf(totals))} supervisors fit the filters.`}</p>
      <Button mt="xs" onClick={onClear}>
        Clear filters
      </Button>
    </>
  );
}
