import { EventEmitter, once } from 'node:events';
import type { KyselyPlugin } from 'kysely';
import type { Database } from '../../src/control/schema.ts';

/** A database that can hold back rows it has already read: the data may change before they are returned. */
interface LateReads {
  readonly db: Database;
  /** Holds rows back from now on; resolves when the first were read. */
  hold(): Promise<unknown>;
  /** Returns the held rows, and from now on all rows at once. */
  letGo(): void;
}

/** @param column Only rows with this column are held back. */
export function lateReads(db: Database, column: string): LateReads {
  const gate = new EventEmitter();
  let holds = false;
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      if (!holds || !result.rows.some((row) => column in row)) return result;
      gate.emit('read');
      await once(gate, 'gone');
      return result;
    },
  };
  return {
    db: db.withPlugin(plugin),
    hold: () => {
      holds = true;
      return once(gate, 'read');
    },
    letGo: () => {
      holds = false;
      gate.emit('gone');
    },
  };
}
