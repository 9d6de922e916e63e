import { useCallback, useEffect, useRef, useState } from "react";
import { type TextPart, TextRows } from "./text-rows.ts";

/** Lines from the end that are read first. */
const TAIL_LINES = 10_000;
/** Bytes of an earlier part. */
const EARLIER_BYTES = 1024 * 1024;

/** Where a text is read from. */
export interface TextSource {
  /** Reads a part: the last lines, or from an offset on. */
  readonly read: (
    range: { readonly tail: number } | { readonly offset: number },
    signal?: AbortSignal,
  ) => Promise<TextPart>;
  /**
   * Calls `listener` when the text may have grown, with the part that was added if it is known, until the returned
   * function is called. Undefined if it does not grow.
   */
  readonly follow?: ((offset: number, listener: (part?: TextPart) => void) => () => void) | undefined;
}

export interface LoadedText {
  /** Undefined until its end is known. */
  readonly text: TextRows | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  /** Adds the part before; undefined if there is none. */
  readonly loadEarlier: (() => Promise<number>) | undefined;
}

/** Loads the end of a text, and what is added to it. `source` must not change while the text is the same. */
export function useText(source: TextSource): LoadedText {
  const [text, setText] = useState<TextRows>();
  const [error, setError] = useState<unknown>();
  const [tries, setTries] = useState(0);
  const current = useRef<TextRows>(undefined);
  const show = useCallback((next: TextRows): void => {
    current.current = next;
    setText(next);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try reads the text again
  useEffect(() => {
    const controller = new AbortController();
    let stop: (() => void) | undefined;
    const append = (part: TextPart): void => {
      if (current.current !== undefined) show(current.current.append(part));
    };
    const readOn = async (): Promise<void> => {
      while (!controller.signal.aborted && current.current !== undefined) {
        const part = await source.read({ offset: current.current.nextOffset }, controller.signal);
        if (part.next_offset === part.offset) return;
        append(part);
        if (part.next_offset >= part.size) return;
      }
    };
    const start = async (): Promise<void> => {
      show(TextRows.of(await source.read({ tail: TAIL_LINES }, controller.signal)));
      if (controller.signal.aborted) return;
      let isReading = false;
      const readAgain = async (): Promise<void> => {
        if (isReading) return;
        isReading = true;
        await readOn().catch(setErrorUnlessAborted);
        isReading = false;
      };
      stop = source.follow?.(current.current?.nextOffset ?? 0, (part) => {
        if (part !== undefined && part.offset === current.current?.nextOffset) append(part);
        else void readAgain();
      });
    };
    const setErrorUnlessAborted = (failure: unknown): void => {
      if (!controller.signal.aborted) setError(failure);
    };
    setError(undefined);
    start().catch(setErrorUnlessAborted);
    return () => {
      controller.abort();
      stop?.();
      current.current = undefined;
      setText(undefined);
    };
  }, [source, tries, show]);
  const hasEarlier = text !== undefined && text.offset > 0;
  return {
    text,
    error,
    retry: () => setTries((before) => before + 1),
    loadEarlier: hasEarlier
      ? async () => {
          const before = current.current;
          if (before === undefined) return 0;
          const part = await source.read({ offset: Math.max(0, before.offset - EARLIER_BYTES) });
          const next = before.prepend(upTo(part, before.offset));
          show(next);
          return next.rows.length - before.rows.length;
        }
      : undefined,
  };
}

/** The beginning of a part that ends at an offset. */
function upTo(part: TextPart, end: number): TextPart {
  const bytes = new TextEncoder().encode(part.text).subarray(0, Math.max(0, end - part.offset));
  return { ...part, text: new TextDecoder().decode(bytes) };
}

/** All parts of a text, from its beginning. */
export async function readParts(source: TextSource): Promise<string[]> {
  const parts: string[] = [];
  for (let offset = 0; ; ) {
    const part = await source.read({ offset });
    parts.push(part.text);
    if (part.next_offset <= offset || part.next_offset >= part.size) return parts;
    offset = part.next_offset;
  }
}
