import { notifications } from "@mantine/notifications";
import { download } from "@/api/client";
import { Problem } from "@/api/problem";
import { visible } from "@/text/visible";

const PATH = "/api/v1/supervisors/{supervisor_id}/bundle";

/** Saves the incident bundle of a supervisor, and says so, or why there is none. */
export async function saveBundle(id: string): Promise<void> {
  const name = `${id}-bundle.zip`;
  try {
    save(await download(PATH, { path: { supervisor_id: id } }), name);
    notifications.show({
      title: `${visible(name)} is saved`,
      message: "Secrets are masked; its manifest.json says what could not be read.",
    });
  } catch (problem) {
    if (!(problem instanceof Problem)) {
      throw problem;
    }
    const { title, detail } = problem;
    notifications.show({ title: visible(title), message: visible(detail), color: "red" });
  }
}

function save(file: Blob, name: string) {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to save by then; without this the file stays in memory.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
