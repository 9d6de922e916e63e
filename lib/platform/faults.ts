/** Error codes of platform failures. Callers' errors have other codes. */
export const PLATFORM_FAULTS = {
  unavailable: "the service did not answer",
  throttled: "the service asked to slow down",
  limit_exceeded: "a limit of the platform was passed",
  storage_full: "no space is left",
  storage_read_only: "the storage cannot be written",
  storage_damaged: "the storage is damaged",
  command_not_started: "the program could not be started",
  command_ended_its_parent: "the command ended the process that runs commands",
  secrets_unreadable: "the secrets file must be a file that only its owner can read",
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
