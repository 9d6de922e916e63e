import type { runServer } from "../server.ts";

export function openServer(): Promise<{ readonly runServer: typeof runServer }>;
