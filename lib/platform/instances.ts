/** Which process does the work: the owner of leases. */
export interface Instances {
  /** New at every start. */
  readonly id: string;
  /** True where the owner is known to be dead, so that its leases need not be waited for. */
  isGone(owner: string): boolean;
}
