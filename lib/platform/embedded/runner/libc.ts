import type { KoffiFunc, LibraryHandle } from "koffi";

type NativeFunction = KoffiFunc<(...args: unknown[]) => number>;

/** Flags of `posix_spawn`, which have the same values in glibc and musl. */
const SETSIGDEF = 0x04;
const SETSIGMASK = 0x08;
const SETSID = 0x80;
/** Larger than these structures in any C library. */
const STRUCT_BYTES = 512;
const WNOHANG = 1;
const AF_UNIX = 1;
const SOCK_STREAM_CLOEXEC = 0x80001;

export interface SpawnCall {
  readonly path: string;
  readonly argv: readonly string[];
  /** `NAME=value`. */
  readonly env: readonly string[];
  readonly cwd: string;
  readonly stdin: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly channel?: number | undefined;
  /** Blocks the event loop until the program is loaded: faster than a thread, unless several start at once. */
  readonly atOnce: boolean;
}

/** The functions of the C library that start and reap processes. */
export interface Libc {
  /** The new process's id, or the negated errno. */
  spawn(call: SpawnCall): Promise<number>;
  /** The wait status of an ended child, `running`, or `unknown` if it is not a child of this process. */
  reap(pid: number): number | "running" | "unknown";
  /** Two connected sockets, which programs do not inherit. Throws. */
  socketPair(): [number, number];
}

/**
 * Binds the C library of this process. Throws if the platform has no foreign function interface, or if the library is
 * too old to start a process in a given folder and a new session.
 */
export async function loadLibc(): Promise<Libc> {
  const { load } = await import("koffi");
  const library = load(null);
  const attributes = spawnAttributes(library);
  const spawn: NativeFunction = library.func(
    "int posix_spawn(_Out_ int *pid, const char *path, void *actions, void *attr, const char **argv, const char **env)",
  );
  const waitpid = bind(library, "int waitpid(int pid, _Out_ int *status, int options)");
  const begin = bind(library, "int posix_spawn_file_actions_init(void *actions)");
  const dup2 = bind(library, "int posix_spawn_file_actions_adddup2(void *actions, int fd, int as)");
  const chdir = bind(library, "int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)");
  const destroy = bind(library, "int posix_spawn_file_actions_destroy(void *actions)");
  const socketpair = bind(library, "int socketpair(int domain, int type, int protocol, _Out_ int *sockets)");
  const status = [0];
  return {
    spawn: async ({ path, argv, env, cwd, stdin, stdout, stderr, channel, atOnce }) => {
      const pid = [0];
      const actions = Buffer.alloc(STRUCT_BYTES);
      const begun = begin(actions);
      if (begun !== 0) return -begun;
      try {
        const args = [pid, path, actions, attributes, [...argv, null], [...env, null]];
        const failed =
          dup2(actions, stdin, 0) ||
          dup2(actions, stdout, 1) ||
          dup2(actions, stderr, 2) ||
          (channel === undefined ? 0 : dup2(actions, channel, 3)) ||
          chdir(actions, cwd) ||
          (atOnce ? spawn(...args) : await inThread(spawn, args));
        return failed === 0 ? (pid[0] ?? 0) : -failed;
      } finally {
        destroy(actions);
      }
    },
    reap: (pid) => {
      const found = waitpid(pid, status, WNOHANG);
      if (found === 0) return "running";
      return found === pid ? (status[0] ?? 0) : "unknown";
    },
    socketPair: () => {
      const pair: [number, number] = [-1, -1];
      if (socketpair(AF_UNIX, SOCK_STREAM_CLOEXEC, 0, pair) !== 0) throw new Error("socketpair failed");
      return pair;
    },
  };
}

/** Starts a new session with default signal handling and no blocked signals: Node ignores some signals. */
function spawnAttributes(library: LibraryHandle): Buffer {
  const attributes = Buffer.alloc(STRUCT_BYTES);
  const all = Buffer.alloc(STRUCT_BYTES);
  const none = Buffer.alloc(STRUCT_BYTES);
  const failed =
    bind(library, "int sigfillset(void *set)")(all) ||
    bind(library, "int sigemptyset(void *set)")(none) ||
    bind(library, "int posix_spawnattr_init(void *attr)")(attributes) ||
    bind(library, "int posix_spawnattr_setsigdefault(void *attr, void *set)")(attributes, all) ||
    bind(library, "int posix_spawnattr_setsigmask(void *attr, void *set)")(attributes, none) ||
    bind(library, "int posix_spawnattr_setflags(void *attr, short flags)")(
      attributes,
      SETSIGDEF | SETSIGMASK | SETSID,
    );
  if (failed !== 0) throw new Error(`posix_spawn cannot start a session on this system (error ${failed})`);
  return attributes;
}

function bind(library: LibraryHandle, definition: string): (...args: unknown[]) => number {
  return library.func(definition);
}

function inThread(fn: NativeFunction, args: readonly unknown[]): Promise<number> {
  return new Promise((resolve, reject) => {
    fn.async(...args, (error: Error | null, result: number) => {
      if (error === null) resolve(result);
      else reject(error);
    });
  });
}
