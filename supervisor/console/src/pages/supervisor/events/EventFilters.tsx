import { Button, Checkbox, Popover, TextInput } from "@mantine/core";
import { usePreferences } from "@/app/preferences";
import { Chip } from "@/components/filters/Chip";
import filters from "@/components/filters/Filters.module.css";
import { Icon } from "@/components/Icon";
import { ColumnMenu } from "@/components/table/ColumnMenu";
import { visible } from "@/text/visible";
import { inputOf, isoOf } from "../reset/moments";
import { COLUMNS, NAME } from "./columns";
import classes from "./Events.module.css";
import { FAMILIES } from "./kinds";
import { type EventsSearch, isFiltered } from "./search";

type Props = {
  search: EventsSearch;
  isLive: boolean;
  onChange: (part: Partial<EventsSearch>) => void;
};

/** Types, a span of time, and whether new events come by themselves; each is in the URL. */
export function EventFilters({ search, isLive, onChange }: Props) {
  const { zone } = usePreferences();
  return (
    <search className={filters.filters}>
      <Types chosen={search.type ?? []} onChange={(type) => onChange({ type })} />
      {(["since", "until"] as const).map((name) => (
        <TextInput
          key={`${name} ${zone} ${search[name] ?? ""}`}
          type="datetime-local"
          step={1}
          aria-label={name === "since" ? "From this time on" : "Before this time"}
          leftSection={name}
          leftSectionWidth={44}
          defaultValue={inputOf(search[name] ?? "", zone)}
          onBlur={({ currentTarget }) =>
            onChange({ [name]: isoOf(currentTarget.value, zone) || undefined })
          }
          onKeyDown={({ key, currentTarget }) => key === "Enter" && currentTarget.blur()}
        />
      ))}
      <Chip
        isOn={isLive}
        onClick={() => onChange(isLive ? { tail: "off" } : { tail: undefined, until: undefined })}
      >
        Live
      </Chip>
      {isFiltered(search) && (
        <Button
          variant="subtle"
          leftSection={<Icon name="close" size={11} />}
          onClick={() => onChange({ type: undefined, since: undefined, until: undefined })}
        >
          Clear
        </Button>
      )}
      <span className={classes.right}>
        <ColumnMenu name={NAME} columns={COLUMNS} />
      </span>
    </search>
  );
}

type TypesProps = {
  chosen: readonly string[];
  onChange: (types: string[] | undefined) => void;
};

function Types({ chosen, onChange }: TypesProps) {
  const known = new Set<string>(FAMILIES.flatMap(([, types]) => types));
  const others = chosen.filter((type) => !known.has(type));
  const families = others.length === 0 ? FAMILIES : ([...FAMILIES, ["Others", others]] as const);
  const change = (types: readonly string[]) =>
    onChange(types.length === 0 ? undefined : [...new Set(types)]);
  return (
    <Popover position="bottom-start" shadow="md" trapFocus returnFocus>
      <Popover.Target>
        <Button rightSection={<Icon name="down" size={11} />}>
          {chosen.length === 0 ? "All types" : wordsOf(chosen)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label="Types of events">
        <div className={classes.types}>
          {families.map(([family, types]) => {
            const on = types.filter((type) => chosen.includes(type));
            const rest = chosen.filter((type) => !on.includes(type));
            return (
              <fieldset key={family} className={classes.family}>
                <legend>
                  <Checkbox
                    label={family}
                    checked={on.length === types.length}
                    indeterminate={on.length > 0 && on.length < types.length}
                    onChange={() => change(on.length === types.length ? rest : [...rest, ...types])}
                  />
                </legend>
                {types.map((type) => (
                  <Checkbox
                    key={type}
                    label={visible(type)}
                    checked={chosen.includes(type)}
                    onChange={() =>
                      change(
                        chosen.includes(type)
                          ? chosen.filter((each) => each !== type)
                          : [...chosen, type],
                      )
                    }
                  />
                ))}
              </fieldset>
            );
          })}
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}

function wordsOf(chosen: readonly string[]): string {
  const [first = ""] = chosen;
  return chosen.length === 1 ? visible(first) : `${chosen.length} types`;
}
