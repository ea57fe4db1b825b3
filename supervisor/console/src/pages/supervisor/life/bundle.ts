import { saveAnswer } from "@/api/saving";

const PATH = "/api/v1/supervisors/{supervisor_id}/bundle";

/** Saves the incident bundle of a supervisor, and says so, or why there is none. */
export async function saveBundle(id: string): Promise<void> {
  await saveAnswer(
    PATH,
    { path: { supervisor_id: id } },
    () => `${id}-bundle.zip`,
    "Secrets are masked; its manifest.json says what could not be read.",
  );
}
