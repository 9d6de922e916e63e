import { readdir, readFile } from "node:fs/promises";

const FOLDER = new URL("./fixtures/", import.meta.url);

/** A test workflow in the style of users of other workflow engines. */
export interface Fixture {
  /** Path below `fixtures`, such as `hooks/around.yaml`. */
  readonly path: string;
  readonly name: string;
  readonly kind: "module" | "flow";
  readonly yaml: string;
}

/** Reads all fixtures, sorted by path. */
export async function readFixtures(): Promise<readonly Fixture[]> {
  const paths = (await readdir(FOLDER, { recursive: true })).filter((path) => path.endsWith(".yaml")).sort();
  return Promise.all(
    paths.map(async (path): Promise<Fixture> => {
      const yaml = await readFile(new URL(path, FOLDER), "utf8");
      const name = (path.split("/").at(-1) ?? "").replace(".yaml", "");
      return { path, name, kind: /^kind: flow$/m.test(yaml) ? "flow" : "module", yaml };
    }),
  );
}

/** True for invalid workflows. All others are copied into the server's workflows folder. */
export const isRefused = ({ path }: Fixture): boolean => path.startsWith("refused/");

export function toFiles(fixtures: readonly Fixture[]): Record<string, string> {
  const kept = fixtures.filter((fixture) => !isRefused(fixture));
  return Object.fromEntries(kept.map(({ path, yaml }) => [`workflows/${path}`, yaml]));
}
