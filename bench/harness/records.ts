import type { EventDraft } from "../../lib/events/publish.ts";

/** Kinds of records that a data folder can be filled with. */
export type RecordKind = "events" | "assets" | "lists" | "documents" | "texts";

const TOPICS = ["custom.host.seen", "custom.port.seen"] as const;
const WORKSPACES = 5;
const NAMES = 100;
const ASSET_TYPES = ["domain", "ip", "url", "service"] as const;
const SOURCES = ["crawl", "scan"] as const;

/** Maps a number to a pseudo-random one, the same in every run. */
function mixed(number: number): number {
  let value = Math.imul(number + 1, 0x9e3779b1);
  value = Math.imul(value ^ (value >>> 15), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

const pick = <Value>(values: readonly Value[], number: number): Value =>
  values[number % values.length] as Value;

export function eventDraft(number: number): EventDraft {
  const value = mixed(number);
  return {
    topic: pick(TOPICS, value),
    name: `nm-${(value >>> 8) % NAMES}`,
    source: "api",
    workspace: `ws-${(value >>> 16) % WORKSPACES}`,
    data_type: "json",
    data: {
      n: number,
      host: `host-${value}.example`,
      port: value % 65_536,
      seen: "by a scan of the network",
    },
  };
}

export function assetDraft(number: number): EventDraft {
  const value = mixed(number);
  return {
    topic: "asset.discovered",
    source: pick(SOURCES, value),
    workspace: `ws-${(value >>> 16) % WORKSPACES}`,
    data: {
      asset_value: `host-${number}.example`,
      asset_type: pick(ASSET_TYPES, value >>> 4),
      source: pick(SOURCES, value),
      title: `Host ${number} in rack ${value % 1_000}`,
      host_ip: `10.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`,
      status_code: 200,
      tech: ["nginx", "php"],
    },
  };
}

/** Number of the first `count` records for which `fits` is true. */
export function countOf<Record>(
  count: number,
  record: (number: number) => Record,
  fits: (record: Record) => boolean,
): number {
  let found = 0;
  for (let number = 0; number < count; number += 1) if (fits(record(number))) found += 1;
  return found;
}
