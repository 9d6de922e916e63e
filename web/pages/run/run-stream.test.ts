import { afterEach, expect, it, vi } from "vitest";
import { RunStream } from "./run-stream.ts";

const CLOSED = 2;

/** The browser's, as far as the stream uses it. */
class TestEventSource extends EventTarget {
  static readonly CLOSED = CLOSED;
  static readonly opened: TestEventSource[] = [];
  readyState = 0;
  onerror: () => void = () => undefined;
  constructor() {
    super();
    TestEventSource.opened.push(this);
  }
  close(): void {
    this.readyState = CLOSED;
  }
}

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it("opens a stream again that was lost and then refused, such as by a proxy while the server starts", async () => {
  vi.useFakeTimers();
  vi.stubGlobal("EventSource", TestEventSource);
  vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false }));
  const ignore = (): void => undefined;
  const stream = new RunStream("r1", { onRun: ignore, onEvent: ignore, onEnd: ignore });
  stream.open();
  const [source] = TestEventSource.opened;
  if (source === undefined) throw new Error("The stream was not opened");
  source.onerror();
  source.close();
  source.onerror();
  await vi.advanceTimersByTimeAsync(60_000);
  stream.close();
  expect(TestEventSource.opened.length).toBe(2);
});
