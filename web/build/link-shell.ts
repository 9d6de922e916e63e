import type { Plugin, Rolldown } from "vite";

/** The module that the first script of the page imports. */
const MAIN = /\/web\/main\.tsx$/;
/** The font of the interface, for the letters of most languages. */
const FONT = /\/inter-latin-wght-normal-/;

type Bundle = Rolldown.OutputBundle;

/**
 * Links the shell, its style and the font in the head of the page: the browser requests them together with the first
 * script, which imports them.
 */
export const linkShell = (): Plugin => ({
  name: "weft:link-shell",
  transformIndexHtml: {
    order: "post",
    handler: (html, { bundle }) => {
      if (bundle === undefined) return [];
      const chunks = [...mainChunks(bundle)];
      const styles = chunks.flatMap((chunk) => [...(chunk.viteMetadata?.importedCss ?? [])]);
      const links = [
        ...styles.map((file) => ({ rel: "stylesheet", file })),
        ...chunks.map(({ fileName: file }) => ({ rel: "modulepreload", file })),
        ...Object.keys(bundle)
          .filter((name) => FONT.test(name))
          .map((file) => ({ rel: "preload", as: "font", file })),
      ];
      return links
        .filter(({ file }) => !html.includes(file))
        .map(({ file, ...attrs }) => ({
          tag: "link",
          attrs: { ...attrs, crossorigin: true, href: `/${file}` },
          injectTo: "head",
        }));
    },
  },
});

/** The chunk of the module and those that it imports, in this order. */
function mainChunks(bundle: Bundle): ReadonlySet<Rolldown.OutputChunk> {
  const found = new Set<Rolldown.OutputChunk>();
  const visit = (chunk: Bundle[string] | undefined): void => {
    if (chunk?.type !== "chunk" || found.has(chunk)) return;
    found.add(chunk);
    for (const name of chunk.imports) visit(bundle[name]);
  };
  visit(
    Object.values(bundle).find((one) => one.type === "chunk" && one.moduleIds.some((id) => MAIN.test(id))),
  );
  return found;
}
