import { readdir, readFile } from "node:fs/promises";

const FOLDER = new URL("./fixtures/", import.meta.url);

/** A workflow written for tests, as people write them who come from elsewhere. */
export interface Fixture {
  /** `hooks/around.yaml`. */
  readonly path: string;
  readonly name: string;
  readonly kind: "module" | "flow";
  readonly yaml: string;
}

/** All of them, by their paths. */
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

/** Those that are refused; all others are laid into a server's folder of workflows. */
export const isRefused = ({ path }: Fixture): boolean => path.startsWith("refused/");

export function asFiles(fixtures: readonly Fixture[]): Record<string, string> {
  const kept = fixtures.filter((fixture) => !isRefused(fixture));
  return Object.fromEntries(kept.map(({ path, yaml }) => [`workflows/${path}`, yaml]));
}
