import { type ReactNode, useEffect, useState } from "react";
import { EmptyState } from "../../../components/empty-state.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import type { BlockEditor } from "../document-schema.ts";
import { type Heading, headingsOf } from "./headings.ts";
import classes from "./outline.module.css";

/** How soon the list follows an edit, milliseconds. */
const FOLLOW_MS = 250;
/** Where a heading counts as read, pixels from the top of the window. */
const READING_LINE = 120;

interface Props {
  readonly editor: BlockEditor;
}

/** The headings of the document. The one that is being read is marked. */
export function OutlinePanel({ editor }: Props): ReactNode {
  const { t } = useTranslation();
  const headings = useHeadings(editor);
  const current = useCurrent(editor, headings);
  if (headings.length === 0) return <EmptyState text={t("outline.empty")} />;
  const top = Math.min(...headings.map(({ level }) => level));
  return (
    <ol className={classes.outline}>
      {headings.map(({ id, level, text }) => (
        <li key={id} data-level={level - top}>
          <a
            href={`#${id}`}
            dir="auto"
            aria-current={id === current ? "location" : undefined}
            onClick={(event) => {
              event.preventDefault();
              elementOf(editor, id)?.scrollIntoView({ block: "start" });
              editor.setTextCursorPosition(id, "start");
              editor.focus();
            }}
          >
            {text}
          </a>
        </li>
      ))}
    </ol>
  );
}

function useHeadings(editor: BlockEditor): readonly Heading[] {
  const [headings, setHeadings] = useState(() => headingsOf(editor));
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = editor.onChange(() => {
      timer ??= setTimeout(() => {
        timer = undefined;
        setHeadings(headingsOf(editor));
      }, FOLLOW_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [editor]);
  return headings;
}

/** The last heading above the reading line. */
function useCurrent(editor: BlockEditor, headings: readonly Heading[]): string | undefined {
  const [current, setCurrent] = useState<string>();
  useEffect(() => {
    const look = (): void => {
      const isRead = ({ id }: Heading): boolean =>
        (elementOf(editor, id)?.getBoundingClientRect().top ?? Number.POSITIVE_INFINITY) < READING_LINE;
      setCurrent((headings.findLast(isRead) ?? headings[0])?.id);
    };
    look();
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, [editor, headings]);
  return current;
}

const elementOf = (editor: BlockEditor, id: string): Element | null | undefined =>
  editor.domElement?.querySelector(`[data-id="${CSS.escape(id)}"]`);
