import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cleanUp, cleanUpOnExit } from "../harness/cleanup.ts";
import { roundNumbers } from "../harness/numbers.ts";
import { bullMqDefault, bullMqDurable } from "./bullmq.ts";
import { measurePeer, type PeerFigures } from "./measure.ts";
import { inngest, n8n, temporal } from "./others.ts";
import { NotInstalledError, type Peer } from "./peer.ts";
import { weft } from "./weft.ts";

const RESULTS = fileURLToPath(new URL("./results.json", import.meta.url));
/** Outside of the dependencies of this project. */
const CACHE = fileURLToPath(new URL("../../node_modules/.cache/weft-peers/", import.meta.url));
const PEERS: Readonly<Record<string, Peer>> = {
  weft,
  "bullmq-durable": bullMqDurable,
  bullmq: bullMqDefault,
  n8n,
  inngest,
  temporal,
};

/** The stored result of a product: its figures, or the reason for their absence. */
interface PeerResult {
  /** Its name on the command line. */
  readonly key: string;
  readonly name: string;
  readonly durability: string;
  /** The day of the measurement. */
  readonly at: string;
  readonly cores: number;
  readonly version?: string;
  readonly figures?: PeerFigures;
  readonly reason?: string;
}

/** Measures a product, or says why it was not measured. */
async function resultOf(key: string, peer: Peer, brief: boolean): Promise<PeerResult> {
  const { name, durability } = peer;
  const about = {
    key,
    name,
    durability,
    at: new Date().toISOString().slice(0, 10),
    cores: availableParallelism(),
  };
  const installed = `${CACHE}${key.replace(/-.*/, "")}`;
  try {
    const version = await peer.install(installed);
    const figures = await measurePeer(peer, installed, brief);
    return { ...about, version, figures: roundNumbers(figures) as PeerFigures };
  } catch (error) {
    if (!(error instanceof NotInstalledError)) throw error;
    return { ...about, reason: error.message };
  } finally {
    await cleanUp();
  }
}

/** Returns the exit code: 0 if every product was measured or cannot be installed, 1 if one failed, 2 for an unknown name. */
async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { brief: { type: "boolean", default: false }, save: { type: "boolean", default: false } },
  });
  const unknown = positionals.filter((name) => !Object.hasOwn(PEERS, name));
  if (unknown.length > 0 || (values.brief && values.save)) {
    const wrong =
      unknown.length > 0 ? `no such product: ${unknown.join(", ")}` : "brief figures are not saved";
    console.error(`${wrong}. There are: ${Object.keys(PEERS).join(", ")}`);
    return 2;
  }
  cleanUpOnExit();
  const results: PeerResult[] = [];
  let failed = false;
  for (const key of positionals.length > 0 ? positionals : Object.keys(PEERS)) {
    const peer = PEERS[key];
    if (peer === undefined) continue;
    console.error(`${key} ...`);
    try {
      results.push(await resultOf(key, peer, values.brief));
    } catch (error) {
      failed = true;
      console.error(`${key} could not be measured:`, error);
    }
  }
  console.table(
    Object.fromEntries(
      results.map(({ key, reason, figures }) => [key, figures ?? { "not measured": reason }]),
    ),
  );
  if (values.save) {
    const before = existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, "utf8")) as PeerResult[]) : [];
    const byKey = new Map([...before, ...results].map((result) => [result.key, result]));
    const sorted = Object.keys(PEERS).flatMap((key) => byKey.get(key) ?? []);
    writeFileSync(RESULTS, `${JSON.stringify(sorted, null, 2)}\n`);
  }
  return failed ? 1 : 0;
}

// Connections of products may keep this process alive.
process.exit(await main());
