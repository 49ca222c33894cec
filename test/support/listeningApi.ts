import type { AddressInfo } from 'node:net';
import type { ApiDependencies } from '../../src/api/createApi.ts';
import { uncheckedApi } from './api.ts';

/** The API in this process on a free port, and the one key that it accepts. */
export async function listeningApi(
  parts: Pick<ApiDependencies, 'store'> & Partial<ApiDependencies>,
): Promise<{ url: string; key: string; get(path: string): Promise<Json>; close(): Promise<void> }> {
  const app = uncheckedApi(parts);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const key = 'good';
  return {
    url,
    key,
    get: async (path) => {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
      return (await answer.json()) as Json;
    },
    close: () => app.close(),
  };
}

/** A parsed answer of any shape. */
type Json = Readonly<Record<string, never>>;
