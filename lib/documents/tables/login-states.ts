import { hash } from "node:crypto";
import type { Key, TableSpec } from "../../platform/tables.ts";

/** `login` and `logout` wait for the browser to return from the provider; `logout-token` was used already. */
export type LoginStateKind = "login" | "logout" | "logout-token";

/** A value that is valid once, by its hash. */
export interface StoredLoginState extends Key {
  readonly expires_at: string;
  /** Constant: the partition of the index. */
  readonly expires: typeof LOGIN_STATES;
  /** Hash of the browser's secret; absent for logout tokens. */
  readonly browser?: string;
  /** Where a login leads to: a URL, or a path of this server. */
  readonly next?: string;
  readonly is_silent?: true;
}

export const LOGIN_STATES = "1";

export const loginStatesTable: TableSpec<StoredLoginState> = {
  name: "document-login-states",
  indexes: { expires: { pk: "expires", sk: "expires_at" } },
};

export const loginStateKey = (kind: LoginStateKind, value: string): Key => ({
  pk: hash("sha256", value, "hex"),
  sk: kind,
});
