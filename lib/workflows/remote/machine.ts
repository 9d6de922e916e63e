import type { CommandOutcome } from "../../platform/commands.ts";

/** A command on another machine. */
export interface RemoteCommand {
  /** For bash, or for sh where the machine has no bash. */
  readonly script: string;
  /** Variables of the script; names are identifiers. */
  readonly env: Readonly<Record<string, string>>;
  /** Files of this machine that take standard output and standard error, replaced. Standard input is empty. */
  readonly stdoutPath: string;
  readonly stderrPath: string;
  readonly timeoutMs: number;
  /** Ends the command, there too. */
  readonly signal: AbortSignal;
  /** Tells this command's processes from all others: a line of text that no other command has. */
  readonly token: string;
}

/** A container or a host that a step has opened; it may run several commands at the same time. */
export interface RemoteMachine {
  /** Rejects with StepFailed where the command cannot be started or followed to its end. */
  run(command: RemoteCommand): Promise<CommandOutcome>;
  /** Gives up what was opened for the step. Never rejects. */
  close(): Promise<void>;
}

/** A folder or file of this machine that a container sees. */
export interface Mount {
  /** Absolute, without symbolic links, and allowed. */
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

export interface DockerTarget {
  readonly image: string;
  readonly mounts: readonly Mount[];
  /** The engine's own choice where it is not given. */
  readonly network?: string;
  readonly workdir?: string;
  readonly user?: string;
  /** One container for all steps of the run that ask for the same. */
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

/** What a machine is opened for. */
export interface RemoteUse {
  readonly runId: string;
  /** Key of the step in its run, with the place in a foreach. */
  readonly step: string;
  /** From 1. */
  readonly attempt: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What an installation allows. Absolute paths. */
export interface RemoteSettings {
  /** Folders that containers may see, besides the workspace of the run. */
  readonly volumeRoots: readonly string[];
  readonly keysDir: string;
  readonly knownHostsPath: string;
  readonly hostNetwork: boolean;
  /** `unix://…` or `tcp://…`; the engine's default socket where it is not given. */
  readonly dockerHost: string | undefined;
}

/** Opens other machines for steps. Both reject with StepFailed, which says what a person can do about it. */
export interface Remote {
  readonly settings: RemoteSettings;
  docker(target: DockerTarget, use: RemoteUse): Promise<RemoteMachine>;
  ssh(target: SshTarget, use: RemoteUse): Promise<RemoteMachine>;
  close(): Promise<void>;
}
