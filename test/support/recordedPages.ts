import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { browserAbsent, openContext } from './browser.ts';
import { openBrowser } from './chromium.ts';
import { readRecording, serveRecording } from './recordedAnswers.ts';
import { eventually } from './runningService.ts';
import { PROJECT_ROOT } from './sourceFiles.ts';

export const REFERENCES = join(PROJECT_ROOT, 'test/web/references');
export const RECORDING = join(REFERENCES, 'answers.json.gz');

/** Without a build, Chromium or a recording, tests of recorded pages are skipped with a reason. */
export const recordingAbsent = browserAbsent || !existsSync(RECORDING);

interface OpenedRecording {
  readonly url: string;
  readonly browser: Browser;
  readonly missing: ReadonlySet<string>;
  readonly atMs: number;
  readonly pages: Readonly<Record<string, string>>;
}

/** Every page of the dashboard in its recorded state, without a service. */
class RecordedPages {
  #opened: OpenedRecording | null = null;
  #end: () => Promise<void> = async () => undefined;

  async start(): Promise<void> {
    const recording = readRecording(RECORDING);
    const { url, server, missing } = await serveRecording(recording);
    const browser = await openBrowser();
    const { atMs, pages } = recording;
    this.#opened = { url, browser, missing, atMs, pages };
    this.#end = async () => {
      await browser.close();
      server.close();
    };
  }

  stop(): Promise<void> {
    return this.#end();
  }

  get browser(): Browser {
    return this.#state.browser;
  }

  /** Requests of the opened pages that the recording does not answer: their pages are not as recorded. */
  get missing(): readonly string[] {
    return [...this.#state.missing];
  }

  /**
   * Opens a page: the clock stands still, and nothing moves.
   * @param prepare Called before the first request, to change answers.
   */
  async open(name: string, prepare: (page: Page) => Promise<unknown> = async () => undefined): Promise<Page> {
    const { url, browser, atMs, pages } = this.#state;
    const context = await openContext(browser, url);
    const page = await context.newPage();
    await page.clock.setFixedTime(atMs);
    await prepare(page);
    await page.goto(pages[name] ?? `/${name}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    return page;
  }

  get #state() {
    if (this.#opened === null) throw new TypeError('the pages are served within tests alone');
    return this.#opened;
  }
}

/** Call it within a `describe`: serves the recording from before its first test until after its last. */
export function useRecordedPages(): RecordedPages {
  const pages = new RecordedPages();
  beforeAll(() => pages.start());
  afterAll(() => pages.stop());
  return pages;
}

/** A screenshot once nothing loads and two in a row are equal. */
export async function steadyShot(page: Page): Promise<Buffer> {
  let last: Buffer = Buffer.alloc(0);
  return await eventually('a page that does not change', async () => {
    if ((await page.getByLabel('Loading', { exact: true }).count()) > 0) return null;
    const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' });
    const isSteady = shot.equals(last);
    last = shot;
    return isSteady && shot;
  });
}
