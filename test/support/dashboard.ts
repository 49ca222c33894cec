import { randomBytes } from 'node:crypto';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import { onTestFinished } from 'vitest';
import { type Accounts, openAccounts } from '../../src/accounts/accounts.ts';
import { RateLimits } from '../../src/accounts/limits/limits.ts';
import { openSecondFactors } from '../../src/accounts/users/secondFactors.ts';
import type { ApiDependencies } from '../../src/api/createApi.ts';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { openWebhooks } from '../../src/webhooks/delivery/webhooks.ts';
import { testApi } from './api.ts';
import { FakeClock } from './fakeClock.ts';
import { FOLLOWED } from './followed.ts';
import { stubStore } from './stubStore.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

export const PASSWORD = 'correct horse battery';
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The API on real accounts in an empty directory, with browsers that send requests to it. */
export interface TestDashboard {
  readonly app: FastifyInstance;
  readonly accounts: Accounts;
  readonly clock: FakeClock;
  /** How often the webhook sender was woken. */
  wakes(): number;
  browser(): Browser;
  /** A browser signed up with this address; the first user is the operator. */
  signedUp(email: string): Promise<Browser>;
}

export async function openDashboard(
  parts: Partial<ApiDependencies> & { limited?: boolean; databaseUrl?: string | null } = {},
): Promise<TestDashboard> {
  const clock = new FakeClock();
  const { limited = false, databaseUrl = null, ...rest } = parts;
  const config = { dataDir: temporaryDirectory(), databaseUrl, keyEnvironment: 'live' } as const;
  const accounts = await openAccounts({
    database: await openControlDatabase(config),
    config,
    ...{ clock, randomBytes, logger: silentLogger, metrics: new Metrics() },
  });
  const webhooks = openWebhooks(accounts.database, {
    config: { dataDir: '.', secretKey: '0'.repeat(64), webhookAllowedNetworks: [], ...FOLLOWED },
    sources: { clock, randomBytes },
    resolve: async (host) => (host === 'hooks.example.com' ? ['93.184.215.14'] : ['10.0.0.7']),
  });
  const secondFactors = openSecondFactors(accounts.database, {
    config: { dataDir: '.', secretKey: '0'.repeat(64) },
    ...{ clock, randomBytes },
  });
  let wakes = 0;
  const rateLimits = limited ? new RateLimits(clock) : null;
  // With PostgreSQL a change waits for other processes, on a clock that only the test moves.
  const control = databaseUrl === null ? accounts : { ...accounts, settled: async () => undefined };
  const app = testApi({
    ...{ store: stubStore({ asked: [] }), accounts: accounts.access, control, clock, rateLimits },
    secondFactors,
    webhooks: { ...webhooks, wake: () => void wakes++ },
    ...rest,
  });
  onTestFinished(async () => {
    await app.close();
    await accounts.close();
  });
  return {
    app,
    accounts,
    clock,
    wakes: () => wakes,
    browser: () => new Browser(app),
    signedUp: async (email) => {
      const browser = new Browser(app);
      const setup = (await accounts.users.hasOperator()) ? null : accounts.setup.token;
      const made = await browser.ask('POST', '/app/sign-up', { email, password: PASSWORD, setup });
      if (made.statusCode !== 200) throw new Error(`sign-up: ${made.statusCode} ${made.body}`);
      return browser;
    },
  };
}

/** Keeps the session cookie like a browser. */
export class Browser {
  readonly #app: FastifyInstance;
  cookie: string | null = null;

  constructor(app: FastifyInstance) {
    this.#app = app;
  }

  async ask(
    method: Method,
    url: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = SAME_ORIGIN,
  ): Promise<LightMyRequestResponse> {
    const sent: InjectOptions = {
      ...{ method, url, headers: { host: '127.0.0.1:8080', ...headers } },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    };
    if (this.cookie !== null) Object.assign(sent.headers as object, { cookie: this.cookie });
    const answer = await this.#app.inject(sent);
    for (const set of [answer.headers['set-cookie'] ?? []].flat().toReversed()) {
      this.cookie = set.includes('Max-Age=0') ? null : (set.split(';', 1)[0] ?? null);
    }
    return answer;
  }

  async status(method: Method, url: string, body?: unknown): Promise<number> {
    return (await this.ask(method, url, body)).statusCode;
  }
}
