import { type ComponentType, type FunctionComponent, type ReactNode, useEffect, useState } from "react";
import { loadTexts } from "../i18n/i18n.ts";
import type { TextGroup } from "../i18n/texts.ts";
import { rest } from "./rest.ts";

interface Options<Props> {
  /** Texts that the component needs, besides those of every page. */
  readonly texts?: readonly TextGroup[];
  /** What is shown until then; nothing by default. */
  readonly before?: ComponentType<Props>;
  /** Whether the page works without it, such as when it cannot be loaded without a connection. */
  readonly isOptional?: boolean;
  /** Whether it is loaded after what the page is about. */
  readonly isLast?: boolean;
}

type Loading<Props> =
  | { readonly component: ComponentType<Props> }
  | { readonly error: unknown }
  | { readonly promise: Promise<void> };

export interface LaterComponent<Props> extends FunctionComponent<Props> {
  /** Loads it before it is shown. */
  readonly prepare: () => Promise<void>;
}

/**
 * A component whose code and texts are loaded when it is first shown. It appears as soon as they are there, unlike a
 * component of `lazy`: React keeps the fallback of a `Suspense` for 300 ms. If they cannot be loaded, it throws, and the
 * next one that is shown tries again.
 */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { texts = [], before: Before, isLast = false, isOptional = false }: Options<Props> = {},
): LaterComponent<Props> {
  let loading: Loading<Props> | undefined;
  const start = (): Loading<Props> => {
    if (loading !== undefined && !("error" in loading)) return loading;
    const loadAll = async (): Promise<void> => {
      try {
        if (isLast) await rest();
        const [component] = await Promise.all([load(), loadTexts(texts)]);
        loading = { component };
      } catch (error) {
        loading = { error };
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
    if ("error" in state && !isOptional) throw state.error;
    if ("component" in state) return <state.component {...props} />;
    return Before === undefined ? null : <Before {...props} />;
  };
  Later.prepare = async (): Promise<void> => {
    const state = start();
    if ("promise" in state) await state.promise;
  };
  return Later;
}
