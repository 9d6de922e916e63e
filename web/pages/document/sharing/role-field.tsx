import { NativeSelect } from "@mantine/core";
import type { ReactNode } from "react";
import { useTranslation } from "../../../i18n/use-translation.ts";
import { ROLES, type Role } from "./sharing-api.ts";

interface Props {
  /** What a screen reader calls the field, such as "Role of Ana Lind". */
  readonly label: string;
  readonly value: Role;
  /** The roles that the user may choose. With none but the current one, the role is text. */
  readonly options: readonly Role[];
  readonly onChange: (role: Role) => void;
}

export function RoleField({ label, value, options, onChange }: Props): ReactNode {
  const { t } = useTranslation();
  if (options.every((role) => role === value)) return <span>{t(`sharing.role_${value}`)}</span>;
  const shown = ROLES.filter((role) => role === value || options.includes(role));
  return (
    <NativeSelect
      aria-label={label}
      value={value}
      data={shown.map((role) => ({ value: role, label: t(`sharing.role_${role}`) }))}
      onChange={({ currentTarget }) => {
        const role = shown.find((one) => one === currentTarget.value);
        if (role !== undefined) onChange(role);
      }}
    />
  );
}
