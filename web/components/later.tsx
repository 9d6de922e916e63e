import { type ComponentType, type FunctionComponent, type ReactNode, useEffect, useState } from "react";
import { loadTexts } from "../i18n/i18n.ts";
import type { TextGroup } from "../i18n/texts.ts";
import { StatusPage } from "../shell/status-page.tsx";
import { announceMissing, type Cause, findCause, loadStylesAgain } from "./missing-code.ts";
import { rest } from "./rest.ts";

interface Options<Props> {
  /** Texts that the component needs, besides those of every page. */
  readonly texts?: readonly TextGroup[];
  /** What is shown until then; nothing by default. */
  readonly before?: ComponentType<Props>;
  /** Whether nobody misses it if it cannot be loaded: nothing says so then. */
  readonly isOptional?: boolean;
  /** Whether it is all that is shown besides the shell: if it cannot be loaded, that is said in its place. */
  readonly isPage?: boolean;
  /** Whether it is loaded after what the page is about. */
  readonly isLast?: boolean;
}

type Loading<Props> =
  | { readonly component: ComponentType<Props> }
  | { readonly cause: Cause; readonly isRetry: boolean }
  | { readonly promise: Promise<void> };

export interface LaterComponent<Props> extends FunctionComponent<Props> {
  /** Loads it before it is shown. */
  readonly prepare: () => Promise<void>;
}

/**
 * A component whose code and texts are loaded when it is first shown. It appears as soon as they are there, unlike a
 * component of `lazy`: React keeps the fallback of a `Suspense` for 300 ms. If they cannot be loaded, the rest of the page
 * stays as it is, and a notice says what to do. The next one that is shown tries again.
 */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { texts = [], before: Before, isLast = false, isOptional = false, isPage = false }: Options<Props> = {},
): LaterComponent<Props> {
  let loading: Loading<Props> | undefined;
  const start = (): Loading<Props> => {
    if (loading !== undefined && !("cause" in loading)) return loading;
    const isRetry = loading !== undefined;
    const loadAll = async (): Promise<void> => {
      try {
        if (isLast) await rest();
        if (isRetry) await loadStylesAgain();
        const [component] = await Promise.all([load(), loadTexts(texts)]);
        loading = { component };
      } catch {
        loading = { cause: isOptional ? "failed" : await findCause(), isRetry };
      }
    };
    loading = { promise: loadAll() };
    return loading;
  };
  const Later = (props: Props): ReactNode => {
    const [state, setState] = useState(start);
    useEffect(() => {
      if (!("promise" in state)) return;
      let isShown = true;
      void state.promise.then(() => {
        if (isShown && loading !== undefined) setState(loading);
      });
      return () => {
        isShown = false;
      };
    }, [state]);
    useEffect(() => {
      if (!("cause" in state) || isOptional) return;
      return announceMissing({ ...state, isPage, retry: () => setState(start()) });
    }, [state]);
    if ("component" in state) return <state.component {...props} />;
    if (isPage && "cause" in state)
      return <StatusPage kind={state.cause === "unreachable" ? "offline" : "failed"} />;
    return Before === undefined ? null : <Before {...props} />;
  };
  Later.prepare = async (): Promise<void> => {
    const state = start();
    if ("promise" in state) await state.promise;
  };
  return Later;
}
