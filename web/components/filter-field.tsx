import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { type ReactNode, useEffect, useState } from "react";
import classes from "./page.module.css";

const DEBOUNCE_MS = 150;
const LENGTH_MAX = 255;
const ICON_SIZE = 16;

interface Props {
  readonly label: string;
  readonly value: string;
  /** Called when the typing pauses. */
  readonly onChange: (value: string) => void;
}

/** The text filter of a list. The key `/` leads to it. */
export function FilterField({ label, value, onChange }: Props): ReactNode {
  const [text, setText] = useState(value);
  const change = useDebouncedCallback(onChange, DEBOUNCE_MS);
  useEffect(() => setText(value), [value]);
  return (
    <div className={classes.filter}>
      <IconSearch size={ICON_SIZE} aria-hidden />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        maxLength={LENGTH_MAX}
        data-filter
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          change(currentTarget.value);
        }}
      />
    </div>
  );
}
