/**
 * The claims port: names that are taken once. It is what executors of steps have instead of tables: who came
 * first, and whether the run is over.
 */
export interface Claims {
  /** True for the first who asks for the name, and for nobody after. Keys as those of blobs. */
  take(name: string): Promise<boolean>;
  isTaken(name: string): Promise<boolean>;
}
