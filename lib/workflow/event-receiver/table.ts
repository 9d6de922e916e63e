import type { Key, TableSpec } from "../../platform/tables.ts";

/** Marks of the service as a whole. */
export interface ServiceMark extends Key {
  readonly at: string;
}

export const serviceTable: TableSpec<ServiceMark> = { name: "service", indexes: {} };
export const FIRST_START_KEY: Key = { pk: "service", sk: "first-start" };
