import { useDebouncedValue } from "@mantine/hooks";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { type Person, usePeople } from "../menus/use-linked-documents.ts";
import classes from "./comments.module.css";

const DEBOUNCE_MS = 150;
/** What is typed after `@`, before the cursor. */
const TYPED = /(?:^|\s)@([^\s@]{0,50})$/;

interface Props {
  readonly id: string;
  readonly canViewAccesses: boolean;
  readonly label: string;
  readonly maxLength: number;
  readonly isFocused: boolean;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly onMention: (person: Person) => void;
  /** Called for Ctrl+Enter. */
  readonly onSubmit: () => void;
}

/** A field of several lines in which `@` offers people to mention. */
export function MentionField({
  id,
  canViewAccesses,
  label,
  maxLength,
  isFocused,
  value,
  onChange,
  onMention,
  onSubmit,
}: Props): ReactNode {
  const { t } = useTranslation();
  const listId = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [typed, setTyped] = useState<string>();
  const [chosen, choose] = useState(0);
  const [query] = useDebouncedValue(typed ?? "", DEBOUNCE_MS);
  const people = usePeople(id, canViewAccesses && typed !== undefined, query);
  const isOpen = typed !== undefined && people.length > 0;
  const active = Math.min(chosen, people.length - 1);
  useEffect(() => {
    if (isFocused) field.current?.focus();
  }, [isFocused]);
  const follow = (element: HTMLTextAreaElement): void => {
    setTyped(TYPED.exec(element.value.slice(0, element.selectionStart))?.[1]);
    choose(0);
  };
  const mention = (person: Person): void => {
    const element = field.current;
    if (element === null || typed === undefined) return;
    const end = element.selectionStart;
    const before = value.slice(0, end - typed.length);
    onChange(`${before}${person.name} ${value.slice(end)}`);
    onMention(person);
    setTyped(undefined);
    element.focus();
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      onSubmit();
      return;
    }
    if (!isOpen || event.nativeEvent.isComposing) return;
    const person = people[active];
    if (event.key === "ArrowDown") choose((active + 1) % people.length);
    else if (event.key === "ArrowUp") choose((active + people.length - 1) % people.length);
    else if (event.key === "Escape") setTyped(undefined);
    else if ((event.key === "Enter" || event.key === "Tab") && person !== undefined) mention(person);
    else return;
    event.preventDefault();
  };
  return (
    <div className={classes.field}>
      <textarea
        ref={field}
        rows={1}
        dir="auto"
        aria-label={label}
        aria-autocomplete="list"
        aria-controls={isOpen ? listId : undefined}
        aria-activedescendant={isOpen ? `${listId}-${active}` : undefined}
        placeholder={label}
        maxLength={maxLength}
        value={value}
        onChange={({ currentTarget }) => {
          onChange(currentTarget.value);
          follow(currentTarget);
        }}
        onBlur={() => setTyped(undefined)}
        onKeyDown={onKeyDown}
      />
      {isOpen && (
        <div id={listId} role="listbox" aria-label={t("comments.people")} className={classes.people}>
          {people.map((person, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
            <div
              key={person.id}
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === active}
              dir="auto"
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => mention(person)}
            >
              {person.name}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
