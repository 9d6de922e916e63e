import type { Key, TableSpec } from "../../platform/tables.ts";

/** State of the service as a whole. */
export interface ServiceItem extends Key {
  readonly at: string;
  /** Of the signing key: base64url. */
  readonly key?: string;
}

export const serviceTable: TableSpec<ServiceItem> = { name: "service", indexes: {} };
export const FIRST_START_KEY: Key = { pk: "service", sk: "first-start" };
/** Signs values that clients return: hops of steps, secrets of webhooks. */
export const SIGNING_KEY: Key = { pk: "service", sk: "signing-key" };
