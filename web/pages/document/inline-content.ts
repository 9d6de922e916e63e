import { createInlineContentSpec } from "@blocknote/core";
import i18next from "i18next";
import { readTitle } from "./linked-titles.ts";

const ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** A mentioned user, as in comments. The server notifies the user once per block. */
export const mention = createInlineContentSpec(
  { type: "mention", propSchema: { user: { default: "" }, name: { default: "" } }, content: "none" },
  {
    render: ({ props: { name } }) => {
      const dom = document.createElement("span");
      dom.className = "mention";
      dom.textContent = `@${name}`;
      return { dom };
    },
  },
);

/**
 * A link to another document. It shows the present title to those who may read that document, and to others the one that
 * it had when the link was inserted.
 */
export const interlink = createInlineContentSpec(
  {
    type: "interlinkingLinkInline",
    propSchema: { url: { default: "" }, docId: { default: "" }, title: { default: "" } },
    content: "none",
  },
  {
    render: ({ props: { docId, title } }) => {
      const dom = document.createElement("a");
      dom.className = "interlink";
      dom.textContent = title === "" ? i18next.t("app.untitled") : title;
      if (!ID.test(docId)) return { dom };
      dom.href = `/d/${docId}`;
      void showPresentTitle(dom, docId);
      return { dom };
    },
  },
);

async function showPresentTitle(link: HTMLAnchorElement, id: string): Promise<void> {
  const title = await readTitle(id).catch(() => "");
  if (title === "") return;
  if (title === undefined) link.title = i18next.t("document.link_unreadable");
  else link.textContent = title ?? i18next.t("app.untitled");
}
