/** Functions that need products which are not part of Weft, listed so that a call explains this. */
import type { LibraryFunction } from "./library-types.ts";
import { unavailableFunction } from "./record-events.ts";

type Returns = LibraryFunction["returns"];

/** Name, parameters, result type and purpose. */
type Row = readonly [name: string, params: string, returns: Returns, summary: string];

interface Group {
  /** The reason in the error of all these functions. */
  readonly instead: string;
  readonly rows: readonly Row[];
}

const GROUPS: Readonly<Record<string, Group>> = {
  utility: {
    instead: "use a step of type llm or bash",
    rows: [
      ["run_agent", "message, agent_name?", "string", "Calls a coding agent"],
      ["sudo_auth", "password?, keepalive?", "boolean", "Keeps administrator permissions"],
    ],
  },
  notification: {
    instead: "use notify_webhook, or a step of type http",
    rows: [
      ["notify_telegram", "message", "boolean", "Sends a message by Telegram"],
      ["send_telegram_file", "path, caption?", "boolean", "Sends a file by Telegram"],
      ["notify_telegram_channel", "channel, message", "boolean", "Sends a message to a channel of Telegram"],
      [
        "send_telegram_file_channel",
        "channel, path, caption?",
        "boolean",
        "Sends a file to a channel of Telegram",
      ],
      ["notify_message_as_file_telegram", "path", "boolean", "Sends the text of a file by Telegram"],
      [
        "notify_message_as_file_telegram_channel",
        "channel, path",
        "boolean",
        "Sends the text of a file to a channel",
      ],
    ],
  },
  cdn_storage: {
    instead: "use the storage's own program in a bash step",
    rows: [
      ["cdn_upload", "local_path, remote_path", "boolean", "Stores a file"],
      ["cdn_download", "remote_path, local_path", "boolean", "Fetches a file"],
      ["cdn_exists", "remote_path", "boolean", "Whether a file is stored"],
      ["cdn_delete", "remote_path", "boolean", "Removes a stored file"],
      ["cdn_sync_upload", "local_folder, remote_prefix", "string", "Stores changed files"],
      ["cdn_sync_download", "remote_prefix, local_folder", "string", "Fetches changed files"],
      ["cdn_get_presigned_url", "remote_path, minutes?", "string", "Creates a temporary link"],
      ["cdn_list", "pattern?", "string", "Lists the stored files"],
      ["cdn_stat", "remote_path", "string", "Metadata of a stored file"],
      ["cdn_read", "remote_path", "string", "The text of a stored file"],
      ["cdn_ls_tree", "prefix?, depth?", "string", "Lists the stored files as a tree"],
    ],
  },
  installer: {
    instead: "install tools on the machine of the worker",
    rows: [
      ["go_getter", "url, dest", "boolean", "Fetches a source of any kind"],
      ["go_getter_with_sshkey", "key_path, git_url, dest", "boolean", "Clones with a key"],
      ["nix_install", "package, dest?", "boolean", "Installs a package by nix"],
      ["filepath_installer", "local_path, tool_name, dest?", "boolean", "Installs a tool from a file"],
    ],
  },
  ssh: {
    instead: "use a step of type remote-bash",
    rows: [
      [
        "ssh_rsync",
        "host, source, dest, user?, key_path?, password?, port?",
        "boolean",
        "Copies files to a host",
      ],
      ["sync_from_master", "source, dest", "boolean", "Copies files from the master"],
      ["sync_from_worker", "identifier, ip, source, dest", "boolean", "Copies files from a worker"],
      ["rsync_to_worker", "identifier, ip, source, dest", "boolean", "Copies files to a worker"],
    ],
  },
  tmux: {
    instead: "use a bash step, whose output is kept",
    rows: [
      ["tmux_run", "command, session_name?", "string", "Starts a session"],
      ["tmux_capture", "session_name", "string", "Output of a session"],
      ["tmux_send", "session_name, command", "boolean", "Types into a session"],
      ["tmux_kill", "session_name", "boolean", "Ends a session"],
      ["tmux_list", "", "string[]", "The names of sessions"],
    ],
  },
  distributed: {
    instead: "workers receive steps automatically",
    rows: [
      ["run_on_master", "action, argument?", "boolean", "Executes on the master"],
      ["run_on_worker", "scope, action, argument?", "boolean", "Executes on workers"],
    ],
  },
};

/** All unavailable functions, in the form of the others. */
export const unavailableFunctions: Readonly<Record<string, LibraryFunction>> = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([group, { instead, rows }]) =>
    rows.map(([name, params, returns, summary]): [string, LibraryFunction] => [
      name,
      {
        ...unavailableFunction(name, group, params === "" ? [] : params.split(", "), instead),
        returns,
        summary: `Not available (${summary}): ${instead}`,
      },
    ]),
  ),
);
