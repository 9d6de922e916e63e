import { IconChevronRight } from "@tabler/icons-react";
import { type CSSProperties, type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import { type JsonLine, jsonLines } from "./json-lines.ts";
import classes from "./json-view.module.css";
import { WindowedLines } from "./windowed-lines.tsx";

const INDENT_PX = 16;
const ICON_SIZE = 12;

interface Props {
  readonly label: string;
  /** JSON text; any other text is shown as a text. */
  readonly text: string;
}

/** JSON of any length, whose parts open and close. */
export function JsonView({ label, text }: Props): ReactNode {
  const value = useMemo(() => parsed(text), [text]);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const lines = useMemo(() => jsonLines(value, toggled), [value, toggled]);
  const toggle = (id: string): void => {
    const next = new Set(toggled);
    if (!next.delete(id)) next.add(id);
    setToggled(next);
  };
  return (
    <WindowedLines label={label} count={lines.length}>
      {(index) => {
        const line = lines[index];
        return line && <Line key={line.id} line={line} onToggle={toggle} />;
      }}
    </WindowedLines>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface LineProps {
  readonly line: JsonLine;
  readonly onToggle: (id: string) => void;
}

function Line({ line, onToggle }: LineProps): ReactNode {
  const { t, i18n } = useTranslation();
  const { id, depth, key, text, kind, isOpen, hidden } = line;
  const indent: CSSProperties = { paddingInlineStart: depth * INDENT_PX };
  const content = (
    <>
      {key !== undefined && (
        <>
          <span className={classes.key}>{key}</span>:{" "}
        </>
      )}
      <span className={classes[kind]}>{text}</span>
    </>
  );
  if (isOpen === undefined)
    return (
      <div className={classes.line} style={indent}>
        {content}
      </div>
    );
  const count = new Intl.NumberFormat(i18n.language).format(hidden ?? 0);
  return (
    <div className={classes.line} style={indent}>
      <button type="button" className={classes.toggle} aria-expanded={isOpen} onClick={() => onToggle(id)}>
        <IconChevronRight size={ICON_SIZE} aria-hidden />
        {content}
        {hidden !== undefined && (
          <span className={classes.hidden}>
            {t(kind === "string" ? "json.characters" : "json.values", { count: hidden, number: count })}
          </span>
        )}
      </button>
    </div>
  );
}
