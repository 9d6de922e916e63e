import { BlockNoteEditor } from "@blocknote/core";
import { HocuspocusProvider } from "@hocuspocus/provider";
import * as Y from "yjs";

// A page with BlockNote and the stock provider. Its query says which document it opens, and how.

const query = new URLSearchParams(location.search);
const room = query.get("room");
const document_ = new Y.Doc();
const provider = new HocuspocusProvider({
  url: `${query.get("server")}/collaboration/ws/?room=${room}`,
  name: room,
  preserveTrailingSlash: true,
  document: document_,
  token: query.get("token"),
});

const textOf = (content) => (Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : "");

provider.on("synced", () => {
  if (window.weft !== undefined) return;
  const editor = BlockNoteEditor.create({
    collaboration: {
      fragment: document_.getXmlFragment("document-store"),
      user: { name: query.get("name"), color: "#1f6feb" },
      provider,
    },
  });
  editor.mount(document.querySelector("#editor"));
  window.weft = {
    isSaved: () => provider.isSynced && provider.unsyncedChanges === 0,
    text: () => editor.document.map((block) => textOf(block.content)).join("\n"),
  };
});
