/** A response of `GET …/updates/` without a stream, or an event with updates. */
export interface Received {
  readonly generation: number;
  readonly position: number;
  readonly updates: readonly string[];
  readonly state_vector?: string;
  /** Cursors of all clients, if they have changed. */
  readonly awareness?: string;
  readonly awareness_tag?: string;
  readonly permissions?: Permissions;
}

/** What the caller may do. */
export interface Permissions {
  readonly content_retrieve: boolean;
  readonly content_patch: boolean;
}
