import { startTransition, useOptimistic } from "react";

/**
 * A stored value and a function that changes it. The new value is shown at once, and the stored one when `store` has
 * ended: the new value, or the old one if the change has failed, which `store` reports.
 */
export function useOptimisticChange<Value>(
  stored: Value,
  store: (value: Value) => Promise<unknown>,
): readonly [Value, (value: Value) => void] {
  const [shown, show] = useOptimistic(stored);
  const change = (value: Value): void =>
    startTransition(async () => {
      show(value);
      await store(value).catch(() => undefined);
    });
  return [shown, change];
}
