import { notifications } from "@mantine/notifications";
import { get } from "@/api/client";
import { prettyJson } from "@/api/json";
import { saveFile } from "@/api/saving";
import { counted } from "@/text/numbers";
import { visible } from "@/text/visible";
import { eachOf, type Outcome } from "./bulk";

const SPEC = "/druid/indexer/v1/supervisor/{supervisor_id}";
const NAMED = 5;

const sleep = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis));

/** A file of specs: one spec by itself, several as a list in the order of the ids. */
export type SpecsFile = { name: string; text: string };

/** Saves the newest specs of supervisors as JSON, and says which could not be read. */
export async function exportSpecs(ids: readonly string[]): Promise<void> {
  const specs = new Map<string, unknown>();
  const failed: Outcome[] = [];
  await eachOf(
    ids,
    async (id) => void specs.set(id, await get(SPEC, { path: { supervisor_id: id } })),
    (outcome) => void (outcome.problem !== null && failed.push(outcome)),
    sleep,
  );
  if (specs.size > 0) {
    const { name, text } = specsFile(specs);
    saveFile(new Blob([text], { type: "application/json" }), name);
    notifications.show({
      title: `${visible(name)} is saved`,
      message: `It has ${counted(specs.size, "spec")}, with their defaults written out.`,
    });
  }
  if (failed.length > 0) {
    notifications.show({
      title: `${counted(failed.length, "spec")} could not be read`,
      message: failedWords(failed),
      color: "red",
    });
  }
}

/** The file for specs by their ids, in the order of the ids. */
export function specsFile(specs: ReadonlyMap<string, unknown>): SpecsFile {
  const ids = [...specs.keys()].sort((one, other) => one.localeCompare(other));
  const [only] = ids;
  if (ids.length === 1 && only !== undefined) {
    const name = /^[\w.-]+$/.test(only) ? only : "spec";
    return { name: `${name}.json`, text: `${prettyJson(specs.get(only))}\n` };
  }
  return {
    name: "supervisor-specs.json",
    text: `${prettyJson(ids.map((id) => specs.get(id)))}\n`,
  };
}

function failedWords(failed: readonly Outcome[]): string {
  const words = failed
    .slice(0, NAMED)
    .map(
      ({ id, problem }) => `${visible(id)}: ${visible(problem?.detail || problem?.title || "")}`,
    );
  const more = failed.length > NAMED ? `, and ${failed.length - NAMED} more` : "";
  return `${words.join("; ")}${more}`;
}
