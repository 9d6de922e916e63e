const MIB = 1024 * 1024;

/** Entries of a snapshot, at most. */
export const SNAPSHOT_ENTRIES_MAX = 50_000;
/** All files of a snapshot as they lie in the workspace, bytes: a function has 512 MB for the archive and what it unpacks. */
export const SNAPSHOT_CONTENT_MAX_BYTES = 192 * MIB;
/** How many times larger a file may be than what is packed of it, where it is larger than this, bytes. */
export const SNAPSHOT_RATIO_MAX = 200;
export const SNAPSHOT_RATIO_FROM_BYTES = 1 * MIB;
/** Records of one kind in a snapshot, and the longest line that holds one, characters. */
export const SNAPSHOT_RECORDS_MAX = 200_000;
export const SNAPSHOT_LINE_MAX_LENGTH = 256 * 1024;
/** Body of an import, bytes: as much as a function is given at once, as base64. */
export const SNAPSHOT_BODY_MAX_BYTES = 4 * MIB;

/** Where a snapshot keeps its records, beside the files of the workspace. */
export const RECORDS_FOLDER = ".weft-snapshot/";
export const MANIFEST = `${RECORDS_FOLDER}snapshot.json`;
export const RECORD_FILES = {
  asset: `${RECORDS_FOLDER}assets.jsonl`,
  vulnerability: `${RECORDS_FOLDER}vulnerabilities.jsonl`,
  artifact: `${RECORDS_FOLDER}artifacts.jsonl`,
} as const;
