import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";

const WEB = join(import.meta.dirname, "..");
const PLURAL = /_(?:one|other)$/;

type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The texts of a language, by area; the groups in alphabetical order. */
async function textsIn(language: string): Promise<Texts> {
  const folder = join(WEB, "i18n", language);
  const groups: Texts[] = [];
  for (const name of (await readdir(folder)).toSorted())
    groups.push(JSON.parse(await readFile(join(folder, name), "utf8")) as Texts);
  const areas = groups.flatMap((group) => Object.keys(group));
  expect(areas).toEqual([...new Set(areas)]);
  return Object.assign({}, ...groups) as Texts;
}

const entriesOf = (texts: Texts): [string, string][] =>
  Object.entries(texts).flatMap(([area, names]) =>
    Object.entries(names).map(([name, text]): [string, string] => [`${area}.${name}`, text]),
  );
const values = (text: string): string[] =>
  [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name ?? "").toSorted();

async function sources(): Promise<string> {
  const names = await readdir(WEB, { recursive: true });
  const files = names.filter((name) => /\.tsx?$/.test(name) && !name.startsWith("build"));
  const texts = await Promise.all(files.map((name) => readFile(join(WEB, name), "utf8")));
  return texts.join("\n");
}

/** The keys that a source names: complete ones, and the beginnings and ends of those in templates. */
function usedKeys(source: string): (key: string) => boolean {
  const complete = new Set([...source.matchAll(/["']([a-z_]+\.[a-z_]+)["']/g)].map(([, key]) => key));
  const parts = [...source.matchAll(/`([a-z_]+\.[a-z_]*)\$\{[^}]+\}([a-z_]*)`/g)].map(
    ([, start = "", end = ""]) => ({ start, end }),
  );
  return (key) => {
    const base = key.replace(PLURAL, "");
    return complete.has(base) || parts.some(({ start, end }) => base.startsWith(start) && base.endsWith(end));
  };
}

it("French has every text of English with the same values, and no other", async () => {
  const [english, french] = [
    new Map(entriesOf(await textsIn("en"))),
    new Map(entriesOf(await textsIn("fr"))),
  ];
  expect([...french.keys()]).toEqual([...english.keys()]);
  for (const [key, text] of french) {
    expect([key, text.trim()]).not.toEqual([key, ""]);
    expect([key, values(text)]).toEqual([key, values(english.get(key) ?? "")]);
  }
});

it("no text is unused", async () => {
  const isUsed = usedKeys(await sources());
  expect(
    entriesOf(await textsIn("en"))
      .map(([key]) => key)
      .filter((key) => !isUsed(key)),
  ).toEqual([]);
});
