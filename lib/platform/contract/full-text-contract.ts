import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { NewText, TextTerm, TextWords } from "../full-text.ts";
import type { Subject } from "./resources.ts";

const term = (words: string): TextTerm => ({
  words: words.replace("*", "").split(" "),
  isPrefix: words.endsWith("*"),
});
const text = (words: Partial<TextWords>, id: string = randomUUID()): NewText => ({
  id,
  version: randomUUID(),
  data: Buffer.from(`data of ${id}`),
  words: { title: [], headings: [], body: [], comments: [], ...words },
});

export function fullTextContract(subject: Subject): void {
  describe("full text", () => {
    const put = async (added: NewText, replaces?: string): Promise<NewText> => {
      expect(await subject().fullText.put(added, replaces)).toBe(true);
      return added;
    };
    const find = async (terms: readonly string[], ...among: readonly NewText[]) => {
      const found = await subject().fullText.find(terms.map(term), among);
      expect(await subject().fullText.find(terms.map(term), among)).toEqual(found);
      return [...found];
    };

    it("finds the best place that has every term", async () => {
      const stored = await put(
        text({
          title: ["budget plan"],
          headings: ["costs of travel", "plan b"],
          body: ["the train to paris"],
          comments: ["too expensive"],
        }),
      );
      expect(await find(["plan", "budget"], stored)).toEqual(["title"]);
      expect(await find(["budget", "travel"], stored)).toEqual(["heading"]);
      expect(await find(["paris", "budget"], stored)).toEqual(["body"]);
      expect(await find(["expensive", "too"], stored)).toEqual(["comment"]);
      expect(await find(["expensive", "budget"], stored)).toEqual([undefined]);
      expect(await find(["budge"], stored)).toEqual([undefined]);
    });

    it("finds beginnings of words, and phrases within one part", async () => {
      const stored = await put(
        text({ body: ["annual report of the council", "council meeting 東京 京都 都"] }),
      );
      expect(await find(["coun*"], stored)).toEqual(["body"]);
      expect(await find(["annual report"], stored)).toEqual(["body"]);
      expect(await find(["annual rep*"], stored)).toEqual(["body"]);
      expect(await find(["report annual"], stored)).toEqual([undefined]);
      expect(await find(["annual rep"], stored)).toEqual([undefined]);
      expect(await find(["council council"], stored)).toEqual([undefined]);
      expect(await find(["東京 京都"], stored)).toEqual(["body"]);
      expect(await find(["京*"], stored)).toEqual(["body"]);
      expect(await find(["京都 東京"], stored)).toEqual([undefined]);
    });

    it("finds only among the given texts", async () => {
      const stored = await Promise.all([1, 2, 3].map(() => put(text({ body: ["shared word"] }))));
      const [first, second] = stored;
      if (first === undefined || second === undefined) throw new Error("nothing stored");
      const found = await subject().fullText.find([term("shared")], [second, { id: randomUUID() }]);
      expect(found).toEqual(["body", undefined]);
    });

    it("replaces a text, and forgets its words", async () => {
      const first = await put(text({ title: ["old words"], body: ["stays"], comments: ["remark"] }));
      const second = await put(text({ title: ["new words"], body: ["stays"] }, first.id), first.version);
      expect(await find(["words", "new"], second)).toEqual(["title"]);
      expect(await find(["old"], second)).toEqual([undefined]);
      expect(await find(["remark"], second)).toEqual([undefined]);
      const empty = await put(text({}, first.id), second.version);
      expect(await find(["stays"], empty)).toEqual([undefined]);
      const [stored] = await subject().fullText.get([first.id, randomUUID()]);
      expect(stored).toMatchObject({ id: first.id, version: empty.version });
      expect(Buffer.from(stored?.data ?? []).toString()).toBe(`data of ${first.id}`);
    });

    it("rejects a state that was read before another one was stored", async () => {
      const first = await put(text({ body: ["first"] }));
      expect(await subject().fullText.put(text({ body: ["again"] }, first.id), undefined)).toBe(false);
      const second = await put(text({ body: ["second"] }, first.id), first.version);
      expect(await subject().fullText.put(text({ body: ["late"] }, first.id), first.version)).toBe(false);
      expect(await find(["late"], second)).toEqual([undefined]);
      expect(await find(["second"], second)).toEqual(["body"]);
    });

    it("stores one of several concurrent states", async () => {
      const first = await put(text({ body: ["first"] }));
      const others = ["one", "two", "three"].map((word) => text({ body: [word] }, first.id));
      const done = await Promise.all(others.map((other) => subject().fullText.put(other, first.version)));
      expect(done.filter(Boolean)).toHaveLength(1);
      const places = await Promise.all(["one", "two", "three"].map((word) => find([word], first)));
      expect(places.map(([place]) => place === "body")).toEqual(done);
    });

    it("replaces a text with many words", async () => {
      const many = (from: number): string =>
        Array.from({ length: 250 }, (_, at) => `word${from + at}`).join(" ");
      const first = await put(text({ body: [many(0)] }));
      const second = await put(text({ body: [many(200)] }, first.id), first.version);
      expect(await find(["word449"], second)).toEqual(["body"]);
      expect(await find(["word249"], second)).toEqual(["body"]);
      expect(await find(["word199"], second)).toEqual([undefined]);
    });
  });
}
