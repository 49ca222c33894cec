import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { commandAbsent } from './builtCommand.ts';
import { PROJECT_ROOT } from './sourceFiles.ts';
import { WAIT_MS_MAX } from './waitLimit.ts';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);
/** Pictures of every page, to be looked at; not committed. Nobody looks at them in CI. */
const PICTURES = join(PROJECT_ROOT, 'test/web/pictures');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PHONE = { width: 390, height: 844 };

/** Without a browser or a build the tests skip by name, except in CI, where they fail. */
export const browserAbsent = commandAbsent || (CHROMIUM === undefined && process.env.CI === undefined);

export function openBrowser(): Promise<Browser> {
  // Chromium refuses its own sandbox to root, which containers run as.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: CHROMIUM ?? 'chromium', args });
}

/** A page of one reader, and everything that went wrong in it. */
export class WatchedPage {
  readonly page: Page;
  /** Console errors, exceptions, refused content, requests elsewhere. */
  readonly faults: string[] = [];
  /** Answers the test provokes, as `403 /app/users`: the browser's own line about them is no fault. */
  readonly refusals = new Set<string>();
  readonly #context: BrowserContext;

  private constructor(context: BrowserContext, page: Page, origin: string) {
    this.#context = context;
    this.page = page;
    page.on('pageerror', (error) => this.faults.push(`exception: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warning') return;
      const { url } = message.location();
      const status = /status of (\d+)/.exec(message.text())?.[1];
      if (status !== undefined && this.refusals.has(`${status} ${new URL(url).pathname}`)) return;
      this.faults.push(`console: ${message.text()} ${url}`);
    });
    page.on('request', (request) => {
      if (!/^(?:blob|data):/.test(request.url()) && !request.url().startsWith(origin)) {
        this.faults.push(`request elsewhere: ${request.url()}`);
      }
    });
  }

  static async open(browser: Browser, origin: string): Promise<WatchedPage> {
    // Colours would else be judged while they still change from one theme to the other.
    const seen = { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' } as const;
    const context = await browser.newContext({ baseURL: origin, ...seen });
    context.setDefaultTimeout(WAIT_MS_MAX);
    await context.addInitScript(
      "addEventListener('securitypolicyviolation', (e) => console.error('refused by the rules: ' + e.blockedURI))",
    );
    return new WatchedPage(context, await context.newPage(), origin);
  }

  async signIn(email: string, password: string): Promise<void> {
    await this.page.goto('/sign-in');
    await this.page.getByLabel('E-mail address').fill(email);
    await this.page.getByRole('textbox', { name: 'Password' }).fill(password);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
    await this.page.waitForURL('**/live**');
  }

  /** Holds the page as it stands, light, dark and on a phone, against the rules for everybody, and takes pictures of it. */
  async inspect(name: string): Promise<void> {
    const { page } = this;
    const before = page.viewportSize() ?? PHONE;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await this.#picture(`${name}-${colorScheme}`);
      expect(await this.#axe(), `${name}, ${colorScheme}`).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(PHONE);
    await this.#picture(`${name}-phone`);
    // What follows the width of its place does so in a later frame.
    const beyond = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    const message = `${name} is wider than a phone, in pixels`;
    await expect.poll(beyond, { message }).toBeLessThanOrEqual(0);
    await page.setViewportSize(before);
  }

  async close(): Promise<void> {
    await this.#context.close();
    expect(this.faults).toEqual([]);
  }

  async #picture(name: string): Promise<void> {
    if (process.env.CI !== undefined) return;
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  }

  /** Serious findings and worse, as `rule: element`. */
  async #axe(): Promise<string[]> {
    await this.page.evaluate(AXE);
    const { violations } = await this.page.evaluate<{ violations: Finding[] }>('axe.run()');
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  }
}

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}
