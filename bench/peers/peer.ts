/** A product that does the same work. */
export interface Peer {
  readonly name: string;
  /** How it stores work, where that is a choice. */
  readonly durability: string;
  /** Installs it into a folder of the cache unless it is there. Returns its version. Throws NotInstalledError. */
  install(folder: string): Promise<string>;
  /** Starts it with an empty store in `folder`. */
  start(given: PeerFolders): Promise<RunningPeer>;
}

export interface PeerFolders {
  /** Where it is installed. */
  readonly installed: string;
  /** For its data; empty, removed at the end. */
  readonly data: string;
  /** The effect of an event appends its number to this file, as a line. */
  readonly journal: string;
}

export interface RunningPeer {
  /** Sends an event, whose effect is a bash command that appends `seq` to the journal. Resolves when it is accepted. */
  emit(seq: string): Promise<void>;
  /** Executes `bash -c true` `count` times in sequence, each as a recorded step. Returns milliseconds. */
  runSteps(count: number): Promise<number>;
  /** Kills all its processes with SIGKILL. */
  kill(): Promise<void>;
  /** Starts it again with the same store. */
  restart(): Promise<void>;
}

/** The product cannot be installed or started on this machine; the message says why. */
export class NotInstalledError extends Error {}

/** Events whose effects may run at the same time, where that is a setting. */
export const CONCURRENCY = 8;

export const effectCommand = (journal: string, seq: string): string => `echo ${seq} >> ${journal}`;
