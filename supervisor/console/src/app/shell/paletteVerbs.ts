import type { SpotlightActionData } from "@mantine/spotlight";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import type { Got } from "@/api/client";
import { missing, useMe } from "@/api/me";
import { apiQuery } from "@/api/query";
import {
  neededForVerb,
  readVerbs,
  type VerbOfSupervisor,
  verbsFor,
} from "@/pages/supervisor/life/verbs";
import { quoted } from "@/text/shell";
import { visible } from "@/text/visible";
import { useContact } from "../contact";

const SUPERVISORS = 8;

type Row = Got<"/api/v1/supervisors">["supervisors"][number];

/**
 * The verbs that are typed, or all of the supervisor whose page is open; each opens its dialog,
 * which shows what it would do.  What may not be done says why, and does nothing.
 */
export function useVerbs(text: string, isOpen: boolean): SpotlightActionData[] {
  const { id: here } = useParams({ strict: false });
  const typed = readVerbs(text);
  const named = typed.find(({ name }) => name !== "")?.name ?? here ?? "";
  const rows = useRows(named, isOpen && (text === "" || typed.length > 0));
  const me = useMe();
  const { state } = useContact();
  const navigate = useNavigate();
  const meant = named === here ? rows.filter(({ id }) => id === here) : rows;
  return meant.flatMap((row) =>
    wanted(row, text, typed).map((verb) => {
      const why =
        state === "stale"
          ? "The overlord does not answer: nothing can be changed."
          : missing(me, neededForVerb(verb), row.dataSource);
      return {
        id: `${verb.name} ${row.id}`,
        label: `${verb.label} ${visible(row.id)}…`,
        description: why ?? `tidegate supervisor ${verb.name} ${visible(quoted(row.id))}`,
        keywords: text,
        "aria-disabled": why !== null,
        closeSpotlightOnTrigger: why === null,
        onClick: () => {
          if (why === null) {
            const params = { id: row.id };
            void navigate({
              to: "/supervisors/$id/overview",
              params,
              search: { do: verb.name },
            });
          }
        },
      };
    }),
  );
}

function wanted(
  row: Row,
  text: string,
  typed: ReturnType<typeof readVerbs>,
): readonly VerbOfSupervisor[] {
  const possible = verbsFor(row.suspended);
  return text === ""
    ? possible
    : possible.filter((verb) => typed.some((each) => each.verb === verb));
}

/** The supervisors that a name may mean; of none without a name. */
function useRows(q: string, isWanted: boolean): readonly Row[] {
  const isAsked = isWanted && q !== "";
  const { data } = useQuery({
    ...apiQuery("/api/v1/supervisors", { query: { q, sort: "id", limit: SUPERVISORS } }),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  });
  return isAsked ? (data?.supervisors ?? []) : [];
}
