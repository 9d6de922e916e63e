import { type ReactNode, useState } from "react";
import { CopyCommandButton } from "./copy-command-button.tsx";
import type { CopiedRequest } from "./copy-command-text.ts";
import { later } from "./later.tsx";

const CopyCommandMenu = later(async () => (await import("./copy-command-menu.tsx")).CopyCommandMenu, {
  before: () => <CopyCommandButton />,
});

interface Props {
  /** The request that returns what is on screen. */
  readonly request: CopiedRequest;
  /** Arguments of `weft` that show the same, such as `["runs", "show", id]`; undefined if no command does. */
  readonly weft?: readonly (string | undefined)[] | undefined;
}

/** A button with a menu that copies what is on screen as a curl command and as a `weft` command. */
export function CopyCommand({ request, weft }: Props): ReactNode {
  const [isOpened, setOpened] = useState(false);
  return isOpened ? (
    <CopyCommandMenu request={request} weft={weft} />
  ) : (
    <CopyCommandButton onClick={() => setOpened(true)} />
  );
}
