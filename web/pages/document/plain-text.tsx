import { type ReactNode, useEffect, useState } from "react";
import type * as Y from "yjs";
import { useTranslation } from "../../i18n/use-translation.ts";
import classes from "./document.module.css";
import { textsOf } from "./history/document-text.ts";

interface Props {
  readonly content: Y.Doc;
  /** The names of the nodes that the editor does not have. */
  readonly unknown: readonly string[];
}

/** The text of a document that other programs have written in part, to be read. */
export function PlainText({ content, unknown }: Props): ReactNode {
  const { t } = useTranslation();
  const [texts, setTexts] = useState(() => textsOf(content));
  useEffect(() => {
    const follow = (): void => setTexts(textsOf(content));
    content.on("update", follow);
    return () => content.off("update", follow);
  }, [content]);
  return (
    <>
      <p role="note" className={classes.notice}>
        {t("document.unknown_blocks", { names: unknown.join(", ") })}
      </p>
      <div className={classes.plain}>
        {texts.map((text, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: texts have no identity
          <p key={at} dir="auto">
            {text}
          </p>
        ))}
      </div>
    </>
  );
}
