import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

/** `npm start`. What was compiled at an earlier start is not compiled again; without a cache it is only slower. */
enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/weft-compiled", import.meta.url)));
const { runServer } = await import("./server.ts");
await runServer(process.env);
