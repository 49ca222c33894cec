import { importsOf, type SourceFile } from './sourceFiles.ts';

/** Groups of modules that import each other, directly or through others (Tarjan's strongly connected components). */
export function importCircles(files: readonly SourceFile[]): string[][] {
  const known = new Set(files.map(({ path }) => path));
  const imports = new Map(
    files.map((file) => [file.path, importsOf(file).filter((target) => known.has(target))]),
  );
  const order = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];

  /** Returns the lowest number on the stack that the module reaches. */
  function visit(path: string): number {
    const own = order.size;
    let lowest = own;
    order.set(path, own);
    stack.push(path);
    for (const target of imports.get(path) ?? []) {
      const found = order.get(target);
      if (found === undefined) lowest = Math.min(lowest, visit(target));
      else if (stack.includes(target)) lowest = Math.min(lowest, found);
    }
    if (lowest < own) return lowest;
    const group = stack.splice(stack.indexOf(path));
    if (group.length > 1 || imports.get(path)?.includes(path)) circles.push(group.sort());
    return Number.POSITIVE_INFINITY;
  }

  for (const { path } of files) if (!order.has(path)) visit(path);
  return circles;
}
