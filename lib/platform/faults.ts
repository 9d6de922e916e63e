/** Error codes of platform failures. Callers' errors have other codes. */
export const PLATFORM_FAULTS = {
  unavailable: "the service did not respond",
  throttled: "the service throttled the request",
  limit_exceeded: "a limit of the platform was exceeded",
  storage_full: "no space left on the storage",
  storage_read_only: "the storage is not writable",
  storage_damaged: "the storage is damaged",
  command_not_started: "the program could not be started",
  command_ended_its_parent: "the command ended the process that executes commands",
  secrets_unreadable: "the secrets file must be a regular file that only its owner can read",
} as const;

export type PlatformFaultCode = keyof typeof PLATFORM_FAULTS;

export class PlatformFault extends Error {
  readonly code: PlatformFaultCode;
  constructor(code: PlatformFaultCode, detail?: string, options?: { cause?: unknown }) {
    super(detail === undefined ? PLATFORM_FAULTS[code] : `${PLATFORM_FAULTS[code]}: ${detail}`, options);
    this.name = "PlatformFault";
    this.code = code;
  }
}
