import type { ReactNode } from "react";
import type { Workflow } from "../../api/workflows.ts";
import { FormField } from "../../components/form-field.tsx";
import { useTranslation } from "../../i18n/use-translation.ts";

export type Param = Workflow["params"][number];

const BOOLEANS = ["bool", "boolean"];
const INTEGERS = ["int", "integer"];
/** The service's limit. */
export const VALUE_MAX = 65_536;

interface ParamFieldProps {
  readonly param: Param;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The field of a param, by its type. What is empty has its default. */
export function ParamField({ param, value, onChange }: ParamFieldProps): ReactNode {
  const { t } = useTranslation();
  const { name, type, required, default: initial = "" } = param;
  const isRequired = required && initial === "";
  return (
    <FormField label={name} hint={isRequired ? t("param.required", { type }) : type}>
      {(attributes) =>
        BOOLEANS.includes(type) ? (
          <select
            {...attributes}
            required={isRequired}
            value={value}
            onChange={({ currentTarget }) => onChange(currentTarget.value)}
          >
            <option value="">{initial === "" ? "" : t("param.default", { value: initial })}</option>
            <option value="true">true</option>
            <option value="false">false</option>
          </select>
        ) : (
          <input
            {...attributes}
            required={isRequired}
            maxLength={VALUE_MAX}
            placeholder={initial}
            value={value}
            {...(INTEGERS.includes(type) ? { inputMode: "numeric", pattern: "[+\\-]?[0-9]+" } : {})}
            onChange={({ currentTarget }) => onChange(currentTarget.value)}
          />
        )
      }
    </FormField>
  );
}
