import { EventEmitter, once } from 'node:events';
import type { KyselyPlugin } from 'kysely';
import type { Database } from '../../src/control/schema.ts';

/** A database that can hold back what it has read already: between the reading and the telling anything may change. */
export interface LateReads {
  readonly db: Database;
  /** Holds rows back from now on; resolves when the first were read. */
  hold(): Promise<unknown>;
  /** Tells them, and from now on everything at once. */
  letGo(): void;
}

/** @param column Only rows that have it are held back. */
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
