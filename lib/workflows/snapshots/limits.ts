const MIB = 1024 * 1024;

/** Maximum number of entries in a snapshot. */
export const SNAPSHOT_ENTRIES_MAX = 50_000;
/** Maximum total size of a snapshot's files, unpacked, bytes: a function has 512 MB for the archive and its content. */
export const SNAPSHOT_CONTENT_MAX_BYTES = 192 * MIB;
/** Maximum compression ratio of a file larger than this, bytes. */
export const SNAPSHOT_RATIO_MAX = 200;
export const SNAPSHOT_RATIO_FROM_BYTES = 1 * MIB;
/** Maximum number of records of one kind in a snapshot, and the longest line of a record, characters. */
export const SNAPSHOT_RECORDS_MAX = 200_000;
export const SNAPSHOT_LINE_MAX_LENGTH = 256 * 1024;
/** Maximum body size of an import, bytes: the limit of a function's input, as base64. */
export const SNAPSHOT_BODY_MAX_BYTES = 4 * MIB;

/** Folder in a snapshot that contains the records, beside the files of the workspace. */
export const RECORDS_FOLDER = ".weft-snapshot/";
export const MANIFEST = `${RECORDS_FOLDER}snapshot.json`;
export const RECORD_FILES = {
  asset: `${RECORDS_FOLDER}assets.jsonl`,
  vulnerability: `${RECORDS_FOLDER}vulnerabilities.jsonl`,
  artifact: `${RECORDS_FOLDER}artifacts.jsonl`,
} as const;
