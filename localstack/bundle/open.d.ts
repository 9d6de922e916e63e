import type { runServer } from "../server.ts";

export function openServer(): Promise<{ readonly runServer: typeof runServer }>;
export function bundleFolder(root: string): string;
export function ensureBundle(root: string): Promise<void>;
export function isCurrent(root: string): boolean;
