const FOLDER = "../../../docs/";
/** Guides that a new user reads first. */
const FIRST = ["tour", "web-interface"];
const FOLDERS = ["documents", "steps"] as const;

const titles = import.meta.glob<string>("../../../docs/**/*.md", {
  eager: true,
  query: "?title",
  import: "default",
});
const texts = import.meta.glob<string>("../../../docs/**/*.md", { query: "?guide", import: "default" });

export interface Guide {
  /** The last part of its address, such as `steps-bash`. */
  readonly name: string;
  readonly title: string;
  readonly group: "general" | (typeof FOLDERS)[number];
  /** Reads its HTML, which is made when the page is built. */
  readonly read: () => Promise<string>;
}

/** All guides, in their order. */
export const GUIDES: readonly Guide[] = Object.entries(texts)
  .map(([path, read]): Guide => {
    const file = path.slice(FOLDER.length, -".md".length);
    const group = FOLDERS.find((folder) => file.startsWith(`${folder}/`)) ?? "general";
    return { name: file.replaceAll("/", "-"), title: titles[path] ?? file, group, read };
  })
  .sort((one, other) => placeOf(one) - placeOf(other) || one.title.localeCompare(other.title, "en"));

function placeOf({ name }: Guide): number {
  const place = FIRST.indexOf(name);
  return place < 0 ? FIRST.length : place;
}

export const GUIDE_GROUPS = ["general", "steps", "documents"] as const satisfies readonly Guide["group"][];
