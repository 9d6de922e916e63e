import { fileURLToPath } from "node:url";
import type { InlineConfig } from "vite";

/** The folder of the sources, which is the root of the page. */
export const WEB = fileURLToPath(new URL("..", import.meta.url));

/** The paths that the server's functions have. The development server forwards them. */
const SERVER_PATHS = ["/api", "/automation", "/collaboration", "/docs", "/health", "/login", "/media"];

/** What the build and the development server have in common. Vite reads no other configuration. */
export const viteOptions = {
  root: WEB,
  configFile: false,
  publicDir: false,
  clearScreen: false,
  resolve: {
    dedupe: ["react", "react-dom", "yjs", "y-protocols"],
    // React has had this hook since version 18.
    alias: [{ find: /^use-sync-external-store\/shim(?:\/index\.js)?$/, replacement: "react" }],
  },
} satisfies InlineConfig;

/** Forwards the server's paths to `server`, such as `http://127.0.0.1:3000`. */
export const forwardTo = (server: string): Record<string, { target: string; ws: boolean }> =>
  Object.fromEntries(SERVER_PATHS.map((path) => [path, { target: server, ws: path === "/collaboration" }]));
