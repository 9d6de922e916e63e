/**
 * Functions of the library that touch files or start commands, by their own names: a script that names one
 * is run where the run's workspace is.
 */
export const WORKSPACE_FUNCTIONS: ReadonlySet<string> = new Set([
  "append_file",
  "bash",
  "command_exists",
  "create_folder",
  "dir_length",
  "exec_cmd",
  "file_exists",
  "file_length",
  "generate_event_from_file",
  "is_dir",
  "is_file",
  "jq_from_file",
  "read_file",
  "read_lines",
  "remove_file",
  "save_content",
  "sort_unix",
]);
