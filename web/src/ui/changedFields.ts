/** Names of fields whose value differs between two requests, e.g. `strategy.threshold_entry.threshold`. */
export function changedFields(
  names: Iterable<string>,
  { before, after }: { readonly before: object; readonly after: object },
): string[] {
  return [...names].filter((name) => textAt(before, name) !== textAt(after, name));
}

/** The value at a place in a request; the service puts the type of a strategy after `strategy`. */
function textAt(request: object, name: string): string | undefined {
  const [first, ...rest] = name.split('.');
  const path = first === 'strategy' ? [first, ...rest.slice(1)] : name.split('.');
  const value = path.reduce<unknown>(
    (within, part) => (typeof within === 'object' && within !== null ? Reflect.get(within, part) : undefined),
    request,
  );
  return JSON.stringify(value);
}
