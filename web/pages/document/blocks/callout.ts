import { createBlockSpec, defaultProps } from "@blocknote/core";
import i18next from "i18next";

const DEFAULT_EMOJI = "💡";
/** The event of a click on the emoji of a callout; `detail` is the id of the block. */
export const CALLOUT_EMOJI_EVENT = "weft:callout-emoji";

/** A text that stands out, with an emoji. */
export const callout = createBlockSpec(
  {
    type: "callout",
    propSchema: {
      textAlignment: defaultProps.textAlignment,
      backgroundColor: defaultProps.backgroundColor,
      emoji: { default: DEFAULT_EMOJI },
    },
    content: "inline",
  },
  {
    parse: (element) =>
      element.tagName === "ASIDE" ? { emoji: element.dataset.emoji ?? DEFAULT_EMOJI } : undefined,
    render: ({ id, props: { emoji } }, editor) => {
      const dom = document.createElement("div");
      dom.className = "callout";
      const button = document.createElement(editor.isEditable ? "button" : "span");
      button.className = "callout-emoji";
      button.contentEditable = "false";
      button.textContent = emoji;
      if (button instanceof HTMLButtonElement) {
        button.type = "button";
        button.ariaLabel = i18next.t("document.callout_emoji", { emoji });
        button.addEventListener("click", () =>
          button.dispatchEvent(new CustomEvent(CALLOUT_EMOJI_EVENT, { bubbles: true, detail: id })),
        );
      }
      const contentDOM = document.createElement("p");
      dom.append(button, contentDOM);
      return { dom, contentDOM };
    },
    toExternalHTML: ({ props: { emoji } }) => {
      const dom = document.createElement("aside");
      dom.dataset.emoji = emoji;
      const contentDOM = document.createElement("p");
      dom.append(contentDOM);
      return { dom, contentDOM };
    },
  },
);
