import type { FastifyInstance } from 'fastify';
import { KEY, uncheckedApi } from '../support/api.ts';
import { stubStore } from '../support/stubStore.ts';
import type { FuzzTarget } from './target.ts';

const ROUTES = ['/v1/markets', '/v1/snapshots', '/v1/timeseries', '/v1/gaps', '/v1/trades'];

let opened: FastifyInstance | null = null;

async function ask(request: { method: 'GET' | 'POST'; url: string; payload?: Buffer }): Promise<void> {
  opened ??= uncheckedApi({ store: stubStore() });
  const headers = { ...KEY, ...(request.payload ? { 'content-type': 'application/json' } : {}) };
  const { statusCode, body } = await opened.inject({ ...request, headers });
  if (statusCode >= 500) throw new Error(`${request.method} ${request.url} answers ${statusCode} ${body}`);
}

/** Query strings and bodies, through every check that a request passes. */
export const apiTargets: readonly FuzzTarget[] = [
  {
    name: 'query',
    run: async (input) => {
      const text = encodeURI(input.toString('latin1').replaceAll(/[^\x21-\x7e]/g, '_')).replaceAll(
        '#',
        '%23',
      );
      for (const route of ROUTES) await ask({ method: 'GET', url: `${route}?${text}` });
    },
  },
  { name: 'body', run: (input) => ask({ method: 'POST', url: '/v1/backtests', payload: input }) },
];
