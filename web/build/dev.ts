import { createServer } from "vite";
import { guides } from "./guides.ts";
import { forwardTo, viteOptions } from "./options.ts";

/* `npm run dev:web`: serves the page from its sources and reloads it on change. API paths go to a running server. */
const server = process.env.WEFT_URL ?? `http://127.0.0.1:${process.env.PORT ?? "3000"}`;
const vite = await createServer({
  ...viteOptions,
  plugins: [guides()],
  server: { host: "127.0.0.1", proxy: forwardTo(server) },
});
await vite.listen();
process.stdout.write(`weft: forwards requests to ${server}\n`);
vite.printUrls();
