import { createCodeBlockSpec } from "@blocknote/core";
import i18next from "i18next";
import { codeHighlighting } from "./code-highlighting.ts";
import { CODE_LANGUAGES, languageId } from "./code-languages.ts";

const spec = createCodeBlockSpec({ supportedLanguages: CODE_LANGUAGES });
const { render } = spec.implementation;

/** Code, with a field for its language, and colors. */
export const codeBlock: typeof spec = {
  ...spec,
  implementation: {
    ...spec.implementation,
    render(block, editor) {
      const view = render.call(this, block, editor);
      const select = view.dom.querySelector("select");
      if (select !== null) {
        select.ariaLabel = i18next.t("document.code_language");
        const { language } = block.props;
        const known = languageId(language);
        // A language of another program stays what it is.
        if (known === undefined) select.prepend(new Option(language, language, true, true));
        else select.value = known;
      }
      return view;
    },
  },
  extensions: [...(spec.extensions ?? []), codeHighlighting],
};
