import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { readTemplateFiles } from "../../localstack/template.ts";

const TEMPLATE = fileURLToPath(new URL("../../template.yaml", import.meta.url));
const SERVER = fileURLToPath(new URL("./server-under-test.ts", import.meta.url));

/** The command that starts `server-under-test.ts`. */
export const SERVER_UNDER_TEST: readonly string[] = [process.execPath, SERVER];

/**
 * Writes a copy of `template.yaml` and its nested templates into a folder. Each edit replaces its text in the first
 * file that contains it. Returns the path of the copy. Throws if no file contains the text.
 */
export async function editedTemplate(
  folder: string,
  edits: readonly (readonly [from: string | RegExp, to: string])[],
): Promise<string> {
  const texts = new Map<string, string>();
  for (const file of readTemplateFiles(TEMPLATE).files)
    texts.set(relative(dirname(TEMPLATE), file), await readFile(file, "utf8"));
  for (const [from, to] of edits) {
    const found = [...texts].find(([, text]) => text.replace(from, () => to) !== text);
    if (found === undefined) throw new Error(`the template has no ${from}`);
    texts.set(
      found[0],
      found[1].replace(from, () => to),
    );
  }
  for (const [file, text] of texts) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return join(folder, "template.yaml");
}
