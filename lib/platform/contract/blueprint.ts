import type { Blueprint } from "../aws/provision/blueprint.ts";
import type { Resources } from "../resources.ts";

/** The blueprint of these resources, with the names that the template gives them in a stack. */
export function blueprintOf(stack: string, bucket: string, resources: Resources): Blueprint {
  const fifos = new Set(resources.queues.filter(({ fifo }) => fifo).map(({ name }) => name));
  const named = (queue: string): string => `${stack}-${queue}${fifos.has(queue) ? ".fifo" : ""}`;
  return {
    tables: resources.tables.map(({ name, indexes }) => ({ name: `${stack}-${name}`, indexes })),
    queues: resources.queues.map(({ name, fifo, visibilitySeconds, retentionSeconds, deadLetter }) => ({
      name: named(name),
      fifo,
      contentDeduplication: fifo,
      visibilitySeconds,
      retentionSeconds,
      ...(deadLetter === undefined
        ? {}
        : { deadLetter: { queue: named(deadLetter.queue), maxReceiveCount: deadLetter.maxReceiveCount } }),
    })),
    buses: [stack],
    rules: resources.rules.map(({ name, pattern, queues }) => ({
      name: `${stack}-${name}`,
      bus: stack,
      when: { pattern },
      targets: queues.map((queue, at) => ({
        id: `queue-${at}`,
        queue: named(queue),
        ...(fifos.has(queue) ? { groupId: name } : {}),
      })),
    })),
    buckets: [bucket],
  };
}
