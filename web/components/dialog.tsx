import "../shell/dialog.css";
import { Modal, type ModalProps } from "@mantine/core";
import { type ReactNode, useEffect, useState } from "react";
import { useTranslation } from "../i18n/use-translation.ts";
import { Mantine } from "./mantine.tsx";

interface Props extends Pick<ModalProps, "returnFocus" | "size"> {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog. Load it when it is needed. */
export function Dialog({ isOpen = true, ...props }: Props): ReactNode {
  const { t } = useTranslation();
  // Mantine returns the focus only if the dialog stays in the page after it was closed.
  const [opener] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (document.activeElement === document.body && opener instanceof HTMLElement)
        opener.focus({ preventScroll: true });
    },
    [opener],
  );
  return (
    <Mantine>
      <Modal
        opened={isOpen}
        closeButtonProps={{ "aria-label": t("app.close") }}
        transitionProps={{ duration: 0 }}
        {...props}
      />
    </Mantine>
  );
}
