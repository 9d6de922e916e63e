import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const TEMPLATE = fileURLToPath(new URL("../../template.yaml", import.meta.url));
const SERVER = fileURLToPath(new URL("./server-under-test.ts", import.meta.url));

/** What starts a server that a test reaches into. */
export const SERVER_UNDER_TEST: readonly string[] = [process.execPath, SERVER];

/** Writes a copy of `template.yaml` with each text replaced, into a folder. Throws where one is not there. */
export async function editedTemplate(
  folder: string,
  edits: readonly (readonly [from: string | RegExp, to: string])[],
): Promise<string> {
  let text = await readFile(TEMPLATE, "utf8");
  for (const [from, to] of edits) {
    const edited = text.replace(from, () => to);
    if (edited === text) throw new Error(`the template has no ${from}`);
    text = edited;
  }
  const path = join(folder, "template.yaml");
  await writeFile(path, text);
  return path;
}
