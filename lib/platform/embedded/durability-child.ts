import { CONTRACT_RESOURCES, ITEMS } from "../contract/resources.ts";
import { openForTest } from "./test-platform.ts";

/**
 * Commits numbered writes with a message each, and prints a number once its promise has resolved, until it is killed.
 * The durability test starts it with the data folder and the first number.
 */
const [dataDir = "", first = "0"] = process.argv.slice(2);
const { ports } = await openForTest(dataDir, CONTRACT_RESOURCES);
let next = Number(first);
const work = async (): Promise<never> => {
  for (;;) {
    const n = next++;
    await ports.outbox.commit({
      writes: [{ op: "put", table: ITEMS, item: { pk: "durable", sk: String(n).padStart(9, "0") } }],
      publish: [{ source: "weft.events", detailType: "written", detail: { n } }],
      send: [
        { queue: "contract-fifo", messages: [{ body: String(n), groupId: "g", deduplicationId: String(n) }] },
      ],
    });
    process.stdout.write(`${n}\n`);
  }
};
await Promise.all(Array.from({ length: 16 }, work));
