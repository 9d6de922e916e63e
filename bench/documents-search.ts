import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { type Figure, runBenchmark } from "./harness/benchmark.ts";
import { documentData, idOf } from "./harness/document-data.ts";
import {
  createToken,
  type DocumentRequests,
  isPage,
  measureRequests,
  secondsOf,
} from "./harness/document-requests.ts";
import { measureEcho } from "./harness/echo.ts";
import { FEW } from "./harness/fill-texts.ts";
import { openFilledFolder } from "./harness/filled.ts";
import { type Server, startServer } from "./harness/server.ts";
import { COMMON_WORDS, PHRASE, paragraphsOf, RARE_WORD } from "./harness/text-data.ts";

const SIZE = 110_000;
const BRIEF_SIZE = 600;
const PAGE_SIZE = 20;
const SEARCH_MS = 10;
const EDITS_PER_SECOND = 200;
const EDIT_SECONDS = 10;
const EDITORS = 8;
const SIZE_RATIO = 1.5;
const INDEXED_MAX_MS = 120_000;

await runBenchmark({
  name: "documents-search",
  what: "Full-text search in 110,000 documents of 2 KB, 20 results a page, one connection, p50",
  peer: "not measured: its search needs a separate service",
  measure: async ({ brief }) => {
    const seconds = secondsOf(brief);
    const size = brief ? BRIEF_SIZE : SIZE;
    const echo = await measureEcho({ seconds });
    const texts = Array.from({ length: size }, (_, number) => paragraphsOf(number));
    const textBytes = texts.flat().reduce((sum, text) => sum + text.length, 0);
    const dataDir = await openFilledFolder("texts", size);
    const indexBytes = readIndexBytes(dataDir);
    const server = await startServer({ dataDir });
    const figures: Figure[] = [];
    const details: Record<string, number> = {};
    for (const asked of await searches(server, texts)) {
      const { p50, p99, cpu, first } = await measureRequests(server, asked, seconds);
      figures.push({ what: asked.name, value: p50, unit: "ms", target: asked.target });
      figures.push({ what: `${asked.name}: CPU`, value: cpu, unit: "ms" });
      details[`${asked.name}: p99 ms`] = p99;
      if (first !== undefined) details[`${asked.name}: first ms`] = first;
    }
    figures.push({
      what: "index, compared with the text",
      value: indexBytes / textBytes,
      unit: "x",
      target: SIZE_RATIO,
    });
    const edits = await measureEdits(server, brief ? 0.5 : EDIT_SECONDS);
    figures.push({
      what: "edits saved and indexed",
      value: edits.perSecond,
      unit: "/s",
      target: EDITS_PER_SECOND,
      atLeast: true,
    });
    details["from the last edit until it is found, ms"] = edits.lagMs;
    await server.stop();
    const [main, ...rest] = figures;
    if (main === undefined) throw new Error("nothing was measured");
    return {
      figures: [main, ...rest],
      baseline: { echo_p50_ms: echo.p50, scan_ms: scanMs(texts) },
      details,
    };
  },
});

/** Time to look for a word in all texts in memory. */
function scanMs(texts: readonly (readonly string[])[]): number {
  const begun = performance.now();
  texts.filter((text) => text.some((paragraph) => paragraph.includes(RARE_WORD)));
  return performance.now() - begun;
}

/** Pages of the index, with the compressed texts for excerpts. */
function readIndexBytes(dataDir: string): number {
  const database = new DatabaseSync(join(dataDir, "full-text.db"), { readOnly: true });
  const sql =
    "SELECT sum(pgsize) AS bytes FROM dbstat WHERE name LIKE 'full_text%' OR name LIKE 'sqlite_autoindex_full_text%'";
  const bytes = Number(database.prepare(sql).get()?.bytes);
  database.close();
  return bytes;
}

async function searches(server: Server, texts: readonly (readonly string[])[]): Promise<DocumentRequests[]> {
  const { flat, wideRows } = documentData(texts.length);
  const users = [
    { rows: Math.min(FEW, texts.length - flat), token: await createToken(server, "twenty") },
    { rows: wideRows, token: await createToken(server, "wide") },
  ];
  const queries = [
    { name: "a rare word", q: RARE_WORD, words: [RARE_WORD] },
    { name: "two common words", q: COMMON_WORDS.join(" "), words: COMMON_WORDS },
    { name: "a phrase", q: `"${PHRASE}"`, words: [PHRASE] },
  ];
  return users.flatMap(({ rows, token }) => {
    const reached = texts.slice(flat, flat + rows).map((text) => text.map((paragraph) => ` ${paragraph} `));
    return queries.map(({ name, q, words }): DocumentRequests => {
      const isFound = (text: readonly string[]): boolean =>
        words.every((word, at) => {
          // The beginning of a word, or a phrase.
          const wanted = q.startsWith('"') ? ` ${words[at]} ` : ` ${word}`;
          return text.some((paragraph) => paragraph.includes(wanted));
        });
      const count = reached.filter(isFound).length;
      return {
        name: `${name}, of a user of ${rows} documents`,
        token,
        target: SEARCH_MS,
        peer: "",
        kinds: [{ method: "GET", path: `/api/v1.0/documents/search/?q=${encodeURIComponent(q)}` }],
        check: isPage(count, Math.min(PAGE_SIZE, count)),
      };
    });
  });
}

/** Saves texts of 2 KB as fast as they are acknowledged, then waits until the last one is found. */
async function measureEdits(
  server: Server,
  seconds: number,
): Promise<{ readonly perSecond: number; readonly lagMs: number }> {
  const token = await createToken(server, "editor");
  const ids = await Promise.all(
    Array.from({ length: EDITORS * 4 }, async (_, number) => {
      const body = { title: `Edited ${number}` };
      const { json } = await server.call("POST", "//api/v1.0/documents/", { token, body });
      return (json as { id: string }).id;
    }),
  );
  const begun = performance.now();
  let edits = 0;
  const edit = async (editor: number): Promise<void> => {
    for (let number = 0; performance.now() - begun < seconds * 1000; number += 1) {
      const id = ids[editor * 4 + (number % 4)] ?? idOf(0);
      const text = `${paragraphsOf(number).join("\n")}\nedit${editor}x${number}`;
      const content = Buffer.from(text).toString("base64");
      const { status } = await server.call("PATCH", `//api/v1.0/documents/${id}/content/`, {
        token,
        body: { content, websocket: true },
      });
      if (status !== 204) throw new Error(`an edit was answered with ${status}`);
      edits += 1;
    }
  };
  await Promise.all(Array.from({ length: EDITORS }, (_, editor) => edit(editor)));
  const last = await server.call("PATCH", `//api/v1.0/documents/${ids[0]}/content/`, {
    token,
    body: { content: Buffer.from("thelastedit").toString("base64"), websocket: true },
  });
  if (last.status !== 204) throw new Error(`the last edit was answered with ${last.status}`);
  const saved = performance.now();
  for (;;) {
    const { json } = await server.call("GET", "//api/v1.0/documents/search/?q=thelastedit", { token });
    if ((json as { count: number }).count === 1) break;
    if (performance.now() - saved > INDEXED_MAX_MS) throw new Error("the last edit is not found");
    await sleep(5);
  }
  const lagMs = performance.now() - saved;
  return { perSecond: edits / ((performance.now() - begun) / 1000), lagMs };
}
