import { IconX } from "@tabler/icons-react";
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { Link } from "wouter";
import { useTranslation } from "../i18n/use-translation.ts";
import classes from "./filter-chips.module.css";

const VALUE_MAX_LENGTH = 1_024;
const ICON_SIZE = 14;

export interface FilterField {
  /** Parameter of the address. */
  readonly name: string;
  readonly label: string;
  /** The only values, with their names. Without them, any text is a value. */
  readonly options?: readonly { readonly value: string; readonly name: string }[];
  /** Values to choose from, besides any other text. */
  readonly suggestions?: readonly string[];
}

interface Props {
  readonly fields: readonly FilterField[];
  readonly parameters: URLSearchParams;
  /** The address with some parameters changed; undefined removes one. */
  readonly hrefWith: (changes: Readonly<Record<string, string | undefined>>) => string;
  readonly onAdd: (name: string, value: string) => void;
}

/** The filters of a list that are in the address, and a form that adds one. The key `/` leads to it. */
export function FilterChips({ fields, parameters, hrefWith, onAdd }: Props): ReactNode {
  const { t } = useTranslation();
  const active = fields.filter(({ name }) => (parameters.get(name) ?? "") !== "");
  const none = Object.fromEntries(
    [...active.map(({ name }) => name), "page"].map((name) => [name, undefined]),
  );
  return (
    <div className={classes.filters}>
      <AddFilter fields={fields} onAdd={onAdd} />
      {active.length > 0 && (
        <ul className={classes.chips} aria-label={t("filters.list")}>
          {active.map((field) => (
            <li key={field.name} className={classes.chip}>
              <span>{field.label}</span>
              <span className={classes.value}>{nameOf(field, parameters.get(field.name) ?? "")}</span>
              <Link
                href={hrefWith({ [field.name]: undefined, page: undefined })}
                className={classes.remove}
                aria-label={t("filters.remove", { name: field.label })}
              >
                <IconX size={ICON_SIZE} aria-hidden />
              </Link>
            </li>
          ))}
          {active.length > 1 && (
            <li>
              <Link href={hrefWith(none)} className={classes.clear}>
                {t("filters.clear")}
              </Link>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

const nameOf = ({ options }: FilterField, value: string): string =>
  options?.find((option) => option.value === value)?.name ?? value;

function AddFilter({ fields, onAdd }: Pick<Props, "fields" | "onAdd">): ReactNode {
  const { t } = useTranslation();
  const id = useId();
  const [name, setName] = useState(fields[0]?.name ?? "");
  const [value, setValue] = useState("");
  const field = fields.find((one) => one.name === name);
  const add = (chosen: string): void => {
    if (chosen.trim() === "") return;
    setValue("");
    onAdd(name, chosen.trim());
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    add(value);
  };
  const label = t("filters.add", { name: field?.label ?? "" });
  return (
    <form className={classes.add} onSubmit={submit}>
      <select
        aria-label={t("filters.field")}
        value={name}
        onChange={({ currentTarget }) => {
          setName(currentTarget.value);
          setValue("");
        }}
      >
        {fields.map((one) => (
          <option key={one.name} value={one.name}>
            {one.label}
          </option>
        ))}
      </select>
      {field?.options === undefined ? (
        <input
          data-filter
          aria-label={label}
          placeholder={t("filters.value")}
          maxLength={VALUE_MAX_LENGTH}
          list={`${id}-suggestions`}
          value={value}
          onChange={({ currentTarget }) => setValue(currentTarget.value)}
        />
      ) : (
        <select
          data-filter
          aria-label={label}
          value=""
          onChange={({ currentTarget }) => add(currentTarget.value)}
        >
          <option value="">{t("filters.value")}</option>
          {field.options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.name}
            </option>
          ))}
        </select>
      )}
      <datalist id={`${id}-suggestions`}>
        {field?.suggestions?.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
    </form>
  );
}
