/** Languages of code by their id, with their names and what else they are called. Each is one of lowlight's `common`. */
export const CODE_LANGUAGES: Record<string, { readonly name: string; readonly aliases?: string[] }> = {
  text: { name: "Text", aliases: ["none", "plain", "plaintext", "txt"] },
  bash: { name: "Bash", aliases: ["sh", "zsh"] },
  c: { name: "C", aliases: ["h"] },
  cpp: { name: "C++", aliases: ["c++", "cc", "hpp"] },
  csharp: { name: "C#", aliases: ["c#", "cs"] },
  css: { name: "CSS" },
  diff: { name: "Diff", aliases: ["patch"] },
  go: { name: "Go", aliases: ["golang"] },
  graphql: { name: "GraphQL", aliases: ["gql"] },
  ini: { name: "INI, TOML", aliases: ["toml"] },
  java: { name: "Java" },
  javascript: { name: "JavaScript", aliases: ["js", "jsx", "mjs"] },
  json: { name: "JSON" },
  kotlin: { name: "Kotlin", aliases: ["kt"] },
  less: { name: "Less" },
  lua: { name: "Lua" },
  makefile: { name: "Makefile", aliases: ["make", "mk"] },
  markdown: { name: "Markdown", aliases: ["md"] },
  objectivec: { name: "Objective-C", aliases: ["objc"] },
  perl: { name: "Perl", aliases: ["pl"] },
  php: { name: "PHP" },
  python: { name: "Python", aliases: ["py"] },
  r: { name: "R" },
  ruby: { name: "Ruby", aliases: ["rb"] },
  rust: { name: "Rust", aliases: ["rs"] },
  scss: { name: "SCSS" },
  shell: { name: "Shell session", aliases: ["console"] },
  sql: { name: "SQL" },
  swift: { name: "Swift" },
  typescript: { name: "TypeScript", aliases: ["ts", "tsx"] },
  xml: { name: "HTML, XML", aliases: ["html", "svg", "xhtml"] },
  yaml: { name: "YAML", aliases: ["yml"] },
};

/** The id of a language that has this id or is also called so; undefined for unknown ones. */
export function languageId(given: string): string | undefined {
  const name = given.toLowerCase();
  if (Object.hasOwn(CODE_LANGUAGES, name)) return name;
  return Object.entries(CODE_LANGUAGES).find(([, { aliases }]) => aliases?.includes(name))?.[0];
}

/** The id of a language that can be highlighted; undefined for text and unknown languages. */
export function highlightedLanguage(given: string): string | undefined {
  const id = languageId(given);
  return id === "text" ? undefined : id;
}
