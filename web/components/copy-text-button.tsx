import { IconCopy } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useCopy } from "./copy-text.ts";
import { IconButton } from "./icon-button.tsx";

const ICON_SIZE = 16;

interface Props {
  readonly text: string;
  /** What is copied, such as "Copy the address". */
  readonly label: string;
}

/** A button that puts a text into the clipboard. */
export function CopyTextButton({ text, label }: Props): ReactNode {
  const copy = useCopy();
  return (
    <IconButton size="md" aria-label={label} title={label} onClick={() => void copy(text)}>
      <IconCopy size={ICON_SIZE} stroke={1.75} aria-hidden />
    </IconButton>
  );
}
