import { createExtension } from "@blocknote/core";
import { createHighlightPlugin, type Parser } from "prosemirror-highlight";
import { highlightedLanguage } from "./code-languages.ts";

/** Longer code is not highlighted: each keystroke in it would take too long. */
const LENGTH_MAX = 30_000;

let parser: Parser | undefined;

/** Loads the grammars when the first code of a known language is shown. */
const parse: Parser = (options) => {
  const language = highlightedLanguage(options.language ?? "");
  if (language === undefined || options.content.length > LENGTH_MAX) return [];
  return parser === undefined ? loadParser() : parser({ ...options, language });
};

async function loadParser(): Promise<void> {
  const [{ common, createLowlight }, { createParser }] = await Promise.all([
    import("lowlight"),
    import("prosemirror-highlight/lowlight"),
  ]);
  parser ??= createParser(createLowlight(common));
}

/** Colors of code, as classes. */
export const codeHighlighting = createExtension({
  key: "weft-code-highlighting",
  prosemirrorPlugins: [
    createHighlightPlugin({
      parser: parse,
      nodeTypes: ["codeBlock"],
      languageExtractor: (node) => String(node.attrs.language ?? ""),
    }),
  ],
});
