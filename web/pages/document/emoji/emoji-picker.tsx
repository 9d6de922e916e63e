import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { Button } from "../../../components/button.tsx";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { FloatingBox } from "../menus/floating.tsx";
import classes from "./emoji.module.css";
import { type Emoji, findEmojis, loadEmojis } from "./emojis.ts";

const COLUMNS = 8;
const SHOWN_MAX = 320;

interface Props {
  readonly label: string;
  readonly rect: () => DOMRect | undefined;
  readonly onChoose: (emoji: string) => void;
  /** Undefined if there is nothing to remove. */
  readonly onRemove?: (() => void) | undefined;
  readonly onClose: () => void;
}

/** A search field whose arrow keys move through a grid of emojis. */
export function EmojiPicker({ label, rect, onChoose, onRemove, onClose }: Props): ReactNode {
  const { t } = useTranslation();
  const ids = useId();
  const [emojis, setEmojis] = useState<readonly Emoji[]>([]);
  const [query, setQuery] = useState("");
  const [chosen, choose] = useState(0);
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    void loadEmojis().then(setEmojis);
  }, []);
  useEffect(() => {
    const onPointerDown = ({ target }: PointerEvent): void => {
      if (!(target instanceof Node) || panel.current?.contains(target) !== true) onClose();
    };
    document.addEventListener("pointerdown", onPointerDown, true);
    return () => document.removeEventListener("pointerdown", onPointerDown, true);
  }, [onClose]);
  const shown = findEmojis(emojis, query, SHOWN_MAX);
  const active = Math.min(chosen, shown.length - 1);
  useLayoutEffect(() => {
    panel.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  });
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: COLUMNS, ArrowUp: -COLUMNS }[event.key];
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") {
      const emoji = shown[active];
      if (emoji !== undefined) onChoose(emoji.character);
    } else if (step !== undefined) choose(Math.max(0, Math.min(active + step, shown.length - 1)));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <FloatingBox rect={rect} side="below" className={classes.picker}>
      <div ref={panel} role="dialog" aria-label={label}>
        <div className={classes.search}>
          <input
            // biome-ignore lint/a11y/noAutofocus: the user has just opened it
            autoFocus
            role="combobox"
            aria-label={t("emoji.search")}
            placeholder={t("emoji.search")}
            aria-expanded
            aria-controls={ids}
            aria-activedescendant={shown.length === 0 ? undefined : `${ids}-${active}`}
            maxLength={50}
            value={query}
            onChange={({ currentTarget }) => {
              setQuery(currentTarget.value);
              choose(0);
            }}
            onKeyDown={onKeyDown}
          />
          {onRemove !== undefined && (
            <Button size="compact-sm" variant="default" onClick={onRemove}>
              {t("emoji.remove")}
            </Button>
          )}
        </div>
        <div id={ids} role="listbox" aria-label={label} className={classes.grid}>
          {shown.map(({ character, name }, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
            <div
              key={name}
              id={`${ids}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              aria-label={name}
              title={name}
              onClick={() => onChoose(character)}
            >
              {character}
            </div>
          ))}
        </div>
      </div>
    </FloatingBox>
  );
}
