import { setTimeout as sleep } from "node:timers/promises";
import type { Deps } from "../../lib/app/compose.ts";
import { encodeParts, type TextPart, wordsOf } from "../../lib/documents/full-text/text-parts.ts";
import { planUser } from "../../lib/documents/users/users.ts";
import { documentData, idOf, titleOf } from "./document-data.ts";
import { fillDocuments, giveEach } from "./fill-documents.ts";
import { paragraphsOf } from "./text-data.ts";

/** Documents of the user who has few. */
export const FEW = 20;
const AT_ONCE = 100;
const POLL_MS = 20;

/** Fills a data folder with documents, and the full-text index with a text of 2 KB for each. */
export async function fillTexts(deps: Deps, count: number, waiting: () => Promise<number>): Promise<void> {
  await fillDocuments(deps, count);
  const { user, writes } = planUser(deps, { email: "twenty@example.com" });
  await deps.tables.write(writes);
  const { flat } = documentData(count);
  await giveEach(
    deps,
    user,
    "reader",
    Array.from({ length: Math.min(FEW, count - flat) }, (_, at) => flat + at),
  );
  while ((await waiting()) > 0) await sleep(POLL_MS);
  for (let from = 0; from < count; from += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => from + at);
    const stored = new Map(
      (await deps.fullText.get(numbers.map(idOf))).map(({ id, version }) => [id, version]),
    );
    await Promise.all(
      numbers.map(async (number) => {
        const id = idOf(number);
        const parts: TextPart[] = [
          { field: "title", source: null, text: titleOf(number) },
          ...paragraphsOf(number).map(
            (text, at): TextPart => ({ field: "body", source: `block-${at}`, text }),
          ),
        ];
        const text = { id, version: deps.ids.ordered(), data: encodeParts(parts), words: wordsOf(parts) };
        if (!(await deps.fullText.put(text, stored.get(id))))
          throw new Error(`the text of document ${number} was not stored`);
      }),
    );
  }
}
