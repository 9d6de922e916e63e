import { expect, it } from "vitest";
import { formatQueueNames, parseQueueNames } from "./queue-names.ts";

it("queue names are read as they were written, without the names of dead-letter queues", () => {
  const names = ["a", "a-dead-letters", "b.fifo", "b-dead-letters.fifo", "b-undelivered", "c", "d.fifo"];
  expect(formatQueueNames(names)).toBe("a:dlq b.fifo:dlq b-undelivered c d.fifo");
  expect(parseQueueNames(formatQueueNames(names))).toEqual(names);
  expect(parseQueueNames("")).toEqual([]);
});
