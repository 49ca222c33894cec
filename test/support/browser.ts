import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import { commandAbsent } from './builtCommand.ts';
import { isChromiumInstalled } from './chromium.ts';
import { PROJECT_ROOT } from './sourceFiles.ts';
import { WAIT_MS_MAX } from './waitLimit.ts';

/** Screenshots of every page for manual review; not committed, not compared in CI. */
const PICTURES = join(PROJECT_ROOT, 'test/web/pictures');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PHONE = { width: 390, height: 844 };

/** Without a browser or a build the tests are skipped with a reason; in CI they fail. */
export const browserAbsent = commandAbsent || (!isChromiumInstalled && process.env.CI === undefined);

/**
 * A browser context in which a test can answer requests itself at any time. Nothing moves in it: colours would
 * otherwise be checked during a transition.
 *
 * Chromium confirms an interception before a page that is already open applies it: on a busy machine, a page that
 * requested something at once got past its test. So each context intercepts from before its first page.
 */
export async function openContext(
  browser: Browser,
  baseURL: string,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(WAIT_MS_MAX);
  await context.route('**/never-requested', (route) => route.abort());
  return context;
}

/** A page of one user, with every error that occurred in it. */
export class WatchedPage {
  readonly page: Page;
  /** Console errors, exceptions, refused content, requests to other origins. */
  readonly faults: string[] = [];
  /** Answers that the test provokes, as `403 /app/users`: the browser's own console line about them is not an error. */
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

  /** @param timezoneId The clock of the reader's machine; UTC by default. */
  static async open(browser: Browser, origin: string, timezoneId = 'UTC'): Promise<WatchedPage> {
    const viewport = { width: 1280, height: 900 };
    const context = await openContext(browser, origin, { timezoneId, viewport });
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

  /** Checks the current page for accessibility, in light and dark and on a phone, and takes screenshots. */
  async inspect(name: string): Promise<void> {
    const { page } = this;
    const before = page.viewportSize() ?? PHONE;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await this.#picture(`${name}-${colorScheme}`);
      expect(await axeFindings(page), `${name}, ${colorScheme}`).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize(PHONE);
    await this.#picture(`${name}-phone`);
    // Elements that follow their container's width adjust in a later frame.
    const beyond = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    const message = `${name} is wider than a phone, in pixels`;
    await expect.poll(beyond, { message }).toBeLessThanOrEqual(0);
    await page.setViewportSize(before);
  }

  async close(): Promise<void> {
    // A stub of a request that the page repeats may be under way, and would fail once its page is closed.
    await this.page.unrouteAll({ behavior: 'ignoreErrors' });
    await this.#context.close();
    expect(this.faults.join('\n')).toBe('');
  }

  async #picture(name: string): Promise<void> {
    if (process.env.CI !== undefined) return;
    await this.page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true });
  }
}

/** Serious and critical findings on a page, as `rule: element`. */
export async function axeFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}
