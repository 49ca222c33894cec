import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { WatchedPage } from './browser.ts';
import { openBrowser } from './chromium.ts';
import { eventually, type RunningCommand, startCommand } from './runningService.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

interface Login {
  email: string;
  password: string;
}

/** Waits until a demo has recorded its history. */
export async function historyRecorded(url: string): Promise<void> {
  await eventually('the whole history', async () => {
    const { degraded } = (await (await fetch(`${url}/readyz`)).json()) as { degraded: string[] };
    return !degraded.some((line) => line.startsWith('history'));
  });
}

/** A demo and a browser, shared by all tests of one file. */
class DemoPages {
  #demo: RunningCommand | null = null;
  #browser: Browser | null = null;
  #owner: Login = { email: '', password: '' };
  readonly #opened: WatchedPage[] = [];

  get url(): string {
    if (this.#demo === null) throw new TypeError('the demo runs within tests alone');
    return this.#demo.url;
  }

  /** The operator. */
  get owner(): Login {
    return this.#owner;
  }

  async open(): Promise<WatchedPage> {
    if (this.#browser === null) throw new TypeError('the browser runs within tests alone');
    const watched = await WatchedPage.open(this.#browser, this.url);
    this.#opened.push(watched);
    return watched;
  }

  async signedIn(who = this.#owner): Promise<WatchedPage> {
    const watched = await this.open();
    await watched.signIn(who.email, who.password);
    return watched;
  }

  async start(environment: Readonly<Record<string, string>>, whenOver: (end: () => unknown) => void) {
    const data = { UNDERROUND_DATA_DIR: path.join(temporaryDirectory(whenOver), 'data') };
    this.#demo = await startCommand(['demo', '--hours', '0.4'], { ...data, ...environment }, whenOver);
    const [, email = '', password = ''] = /login +(\S+) +(\w{16}) +\(operator\)/.exec(this.#demo.out()) ?? [];
    this.#owner = { email, password };
    await historyRecorded(this.url);
    this.#browser = await openBrowser();
  }

  async closePages(): Promise<void> {
    for (const watched of this.#opened.splice(0)) await watched.close();
  }

  async stop(): Promise<void> {
    await this.#browser?.close();
  }
}

/** Call it within a `describe`: starts before its first test and stops after its last. */
export function useDemoPages(environment: Readonly<Record<string, string>> = {}): DemoPages {
  const dashboard = new DemoPages();
  const endings: (() => unknown)[] = [];
  beforeAll(() => dashboard.start(environment, (end) => void endings.push(end)));
  afterAll(async () => {
    await dashboard.stop();
    for (const end of endings.reverse()) await end();
  });
  afterEach(() => dashboard.closePages());
  return dashboard;
}

/** Waits for a page by its heading. */
export const heading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name }).waitFor();
