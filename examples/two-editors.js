// Two people write in one document at the same time, with the stock provider of Hocuspocus:
//   node examples/two-editors.js <document id> <access token> [server]
import { HocuspocusProvider } from "@hocuspocus/provider";
import * as Y from "yjs";

const [id, token, server = "http://127.0.0.1:3000"] = process.argv.slice(2);
if (id === undefined || token === undefined) {
  console.error("usage: node examples/two-editors.js <document id> <access token> [server]");
  process.exit(2);
}

const url = `${server.replace(/^http/, "ws")}/collaboration/ws/?room=${id}`;
const open = (name) => {
  const document = new Y.Doc();
  const provider = new HocuspocusProvider({ url, name: id, document, token, preserveTrailingSlash: true });
  provider.on("authenticationFailed", ({ reason }) => fail(`${name} was refused: ${reason}`));
  return { name, document, provider };
};
const fail = (message) => {
  console.error(message);
  process.exit(1);
};
setTimeout(() => fail("the server did not answer"), 15_000).unref();
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const until = async (isTrue) => {
  while (!isTrue()) await pause(10);
};

/** The first paragraph or heading of an editor's document; its text is created by whoever types first. */
const paragraph = (document) => {
  const found = document
    .getXmlFragment("document-store")
    .createTreeWalker(({ nodeName }) => nodeName === "paragraph" || nodeName === "heading")
    .next().value;
  return found ?? fail("the document has no paragraph or heading");
};
const type = async ({ document, provider }, text, isAtStart = false) => {
  for (const [at, letter] of [...text].entries()) {
    const first = paragraph(document);
    if (first.length === 0) first.insert(0, [new Y.XmlText()]);
    first.get(0).insert(isAtStart ? at : first.get(0).length, letter);
    await pause(20);
  }
  // Zero: everything that this editor has sent is on the server's disk.
  await until(() => provider.unsyncedChanges === 0);
};
const seen = ({ document }) =>
  paragraph(document)
    .toString()
    .replaceAll(/<[^>]*>/g, "");

const [ana, ben] = [open("Ana"), open("Ben")];
await until(() => ana.provider.isSynced && ben.provider.isSynced);
await type(ana, "Ana was here. ");
await until(() => seen(ben).includes("Ana was here."));
console.log(`Ben sees: ${seen(ben)}`);
await Promise.all([type(ana, "And here. "), type(ben, "So was Ben. ", true)]);
await until(() => seen(ana) === seen(ben));
console.log(`both see the same ${seen(ana).length} characters, and they are saved`);
ana.provider.destroy();
ben.provider.destroy();
