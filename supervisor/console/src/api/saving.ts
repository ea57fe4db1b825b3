import { notifications } from "@mantine/notifications";
import { showProblem } from "@/components/problemToast";
import { visible } from "@/text/visible";
import { download, type GetPath, type Params } from "./client";
import { Problem } from "./problem";

/** Lets the browser save a file. */
export function saveFile(file: Blob, name: string): void {
  const address = URL.createObjectURL(file);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to save by then; without this the file stays in memory.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Saves what a path answers, and says so, or why there is nothing; `nameOf` names the file. */
export async function saveAnswer<P extends GetPath>(
  path: P,
  params: Params<P, "get">,
  nameOf: (file: Blob) => string,
  message?: string,
): Promise<void> {
  try {
    const file = await download(path, params);
    const name = nameOf(file);
    saveFile(file, name);
    notifications.show({ title: `${visible(name)} is saved`, message });
  } catch (problem) {
    if (!(problem instanceof Problem)) {
      throw problem;
    }
    showProblem(problem);
  }
}
