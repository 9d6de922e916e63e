import type { CommandOutcome } from "../../platform/commands.ts";

/** A command on another machine. */
export interface RemoteCommand {
  /** For bash, or for sh if the machine has no bash. */
  readonly script: string;
  /** Variables of the script; names are identifiers. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Local files that receive standard output and standard error; existing ones are replaced. Standard input is empty.
   */
  readonly stdoutPath: string;
  readonly stderrPath: string;
  readonly timeoutMs: number;
  /** Kills the command, also on the other machine. */
  readonly signal: AbortSignal;
  /** Identifies this command's processes: a unique line of text. */
  readonly token: string;
}

/** A container or host that a step has opened; it can run several commands concurrently. */
export interface RemoteMachine {
  /** Rejects with StepFailedError if the command cannot be started or its outcome is unknown. */
  run(command: RemoteCommand): Promise<CommandOutcome>;
  /** Releases the step's resources. Never rejects. */
  close(): Promise<void>;
}

/** A local folder or file that is mounted into a container. */
export interface Mount {
  /** Absolute, without symbolic links, and allowed. */
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

export interface DockerTarget {
  readonly image: string;
  readonly mounts: readonly Mount[];
  /** Default: the engine's own. */
  readonly network?: string;
  readonly workdir?: string;
  readonly user?: string;
  /** Whether all steps of the run that ask for the same container share it. */
  readonly persistent: boolean;
}

export interface SshTarget {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly privateKey?: string;
  readonly password?: string;
  readonly workdir?: string;
}

/** The step for which a machine is opened. */
export interface RemoteUse {
  readonly runId: string;
  /** Key of the step in its run, with the index in a foreach. */
  readonly step: string;
  /** Counted from 1. */
  readonly attempt: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Restrictions of the installation. Absolute paths. */
export interface RemoteSettings {
  /** Folders that containers may mount, besides the run's workspace. */
  readonly volumeRoots: readonly string[];
  readonly keysDir: string;
  readonly knownHostsPath: string;
  readonly hostNetwork: boolean;
  /** `unix://…` or `tcp://…`; default: the engine's default socket. */
  readonly dockerHost: string | undefined;
}

/** Opens other machines for steps. Both methods reject with StepFailedError, whose message says how to fix the problem. */
export interface Remote {
  readonly settings: RemoteSettings;
  docker(target: DockerTarget, use: RemoteUse): Promise<RemoteMachine>;
  ssh(target: SshTarget, use: RemoteUse): Promise<RemoteMachine>;
  close(): Promise<void>;
}
