import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tableFullText } from "../../platform/aws/full-text.ts";
import { type TestDeps, testDeps } from "../../testing/test-deps.ts";
import { grantRole } from "../../testing/test-documents.ts";
import type { Role } from "../access/roles.ts";
import { encodeParts, type PartField, type TextPart, wordsOf } from "../full-text/text-parts.ts";
import { createDocument } from "../records/create.ts";
import type { StoredUser } from "../tables/users.ts";
import { planUser } from "../users/users.ts";
import { searchDocuments } from "./search.ts";

/** More than are compared without the index. */
const DOCUMENTS = 50;
const WORDS = ["budget", "bud", "report", "Rapport", "été", "ete", "a", "of", "東京都", "京都", "x-ray"];
const PAGE = { offset: 0, limit: 200 };

let test: TestDeps;
beforeEach(async () => {
  test = await testDeps();
});
afterEach(() => test.close());

type Texts = Readonly<Record<PartField, readonly string[]>>;
const sentence = fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }).map((words) => words.join(" "));
const parts = fc.array(sentence, { maxLength: 2 });
const document: fc.Arbitrary<Texts & { role: Role | "none" }> = fc.record({
  title: fc.array(sentence, { minLength: 1, maxLength: 1 }),
  heading: parts,
  body: parts,
  attachment: fc.constant([]),
  comment: parts,
  role: fc.constantFrom<(Role | "none")[]>("none", "reader", "commenter"),
});
const query = fc
  .array(
    fc.tuple(fc.array(fc.constantFrom(...WORDS, "repo", "bu"), { minLength: 1, maxLength: 2 }), fc.boolean()),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((pieces) =>
    pieces.map(([words, isQuoted]) => (isQuoted ? `"${words.join(" ")}"` : words.join(" "))).join(" "),
  );

/** A model of words for the texts of this test: a text as words between spaces, characters of 東京都 as words. */
const modelOf = (text: string): string =>
  ` ${text
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[東京都]/gu, "$& ")
    .replace(/[- ]+/g, " ")
    .trim()} `;

/** The conditions of a query; each is a test of a modelled text. */
function conditionsOf(q: string): ((text: string) => boolean)[] {
  return [...q.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => {
    const model = modelOf(quoted ?? bare ?? "");
    const last = model.trim().split(" ").at(-1) ?? "";
    const isOpen = bare !== undefined && last.length >= 3;
    return (text) => text.includes(isOpen ? model.trimEnd() : model);
  });
}

const RANKS = ["title", "heading", "body"] as const;

function rankOf(q: string, texts: Texts, role: Role): number | undefined {
  const [title = ""] = texts.title;
  const fold = (text: string): string => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  const at = fold(title).indexOf(fold(q));
  if (at >= 0) return 0;
  const isIn = (fields: readonly PartField[]): boolean => {
    const models = fields.flatMap((field) => texts[field]).map(modelOf);
    return conditionsOf(q).every((condition) => models.some(condition));
  };
  const rank = RANKS.findIndex((_, last) => isIn(RANKS.slice(0, last + 1)));
  if (rank >= 0) return 1 + rank;
  return role !== "reader" && isIn(["comment"]) ? 4 : undefined;
}

describe("full-text search", () => {
  it("equals a model over random texts, permissions and queries, on both adapters", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { minLength: DOCUMENTS, maxLength: DOCUMENTS }),
        fc.array(query, { minLength: 20, maxLength: 20 }),
        async (documents, queries) => {
          const adapters = [test.deps.fullText, tableFullText(test.deps.tables)];
          const name = test.deps.ids.random();
          const user = async (email: string): Promise<StoredUser> => {
            const { user: made, writes } = planUser(test.deps, { email });
            await test.deps.tables.write(writes);
            return made;
          };
          const [owner, guest] = [await user(`${name}@example.com`), await user(`guest-${name}@example.com`)];
          const known: { id: string; texts: Texts; role: Role | "none" }[] = [];
          for (const { role, ...texts } of documents) {
            test.clock.advance(1);
            const { document: made } = await createDocument(test.deps, owner, {
              title: texts.title[0] ?? "",
            });
            if (role !== "none") await grantRole(test.deps, made.id, guest.id, role);
            known.push({ id: made.id, texts, role });
            const stored = Object.entries(texts).flatMap(([field, list]) =>
              list.map((text): TextPart => ({ field: field as PartField, source: null, text })),
            );
            const text = { id: made.id, version: "1", data: encodeParts(stored), words: wordsOf(stored) };
            for (const adapter of adapters) expect(await adapter.put(text, undefined)).toBe(true);
          }
          for (const q of queries) {
            for (const [viewer, roleOf] of [
              [owner, () => "owner" as const],
              [guest, ({ role }: { role: Role | "none" }) => role],
            ] as const) {
              const expected = known.toReversed().flatMap((one) => {
                const role = roleOf(one);
                const rank = role === "none" ? undefined : rankOf(q, one.texts, role);
                return rank === undefined ? [] : [{ id: one.id, rank }];
              });
              for (const fullText of adapters) {
                const { count, found } = await searchDocuments({ ...test.deps, fullText }, viewer, {
                  q,
                  ...PAGE,
                });
                const ids = found.map(({ access }) => access.document.id);
                expect([q, count, ids.toSorted()]).toEqual([
                  q,
                  expected.length,
                  expected.map(({ id }) => id).toSorted(),
                ]);
                const ranked = new Map(expected.map(({ id, rank }) => [id, rank]));
                const ranks = ids.map((id) => ranked.get(id) ?? 0);
                expect([q, ranks]).toEqual([q, ranks.toSorted((one, other) => one - other)]);
              }
            }
          }
        },
      ),
      { numRuns: 3 },
    );
  }, 60_000);
});
