import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { axeFindings, browserAbsent, chromiumPath, openBrowser } from '../support/browser.ts';
import { comparePicture } from '../support/comparedPictures.ts';
import { useDemoPages } from '../support/demoPages.ts';
import { overlappingLabels } from '../support/labelBoxes.ts';
import { AnswerRecorder, readRecording, serveRecording } from '../support/recordedAnswers.ts';
import { eventually } from '../support/runningService.ts';
import { seedPages } from '../support/seededPages.ts';

/** `npm run pictures` records the pages' answers from a demo again, and writes all references. */
const isRenewing = process.env.npm_lifecycle_event === 'pictures';
const REFERENCES = join(import.meta.dirname, 'references');
const RECORDING = join(REFERENCES, 'answers.json.gz');
const VERSION = join(REFERENCES, 'chromium.txt');
const WIDTHS = { wide: [1440, 900], medium: [1024, 768], phone: [390, 844] } as const;
/** Above the longest page, so that every label is measured. */
const TALL = 3_000;

const isAbsent = browserAbsent || (!isRenewing && !existsSync(RECORDING));
const installed = browserAbsent
  ? ''
  : execFileSync(chromiumPath(), ['--version'], { encoding: 'utf8' }).trim();
const drawnBy = existsSync(VERSION) ? readFileSync(VERSION, 'utf8').trim() : 'no version';
const isOther = !isRenewing && installed !== drawnBy;
const SKIPPED = isOther
  ? `pictures of every page (skipped: drawn by ${drawnBy}, not by ${installed})`
  : 'pictures of every page (skipped without a build or Chromium)';

interface Replay {
  readonly url: string;
  readonly browser: Browser;
  readonly atMs: number;
  readonly pages: Readonly<Record<string, string>>;
}

/** Opens a page in its recorded state: the clock stands still, and nothing moves. */
async function openFixed({ browser, url, atMs, pages }: Replay, name: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, reducedMotion: 'reduce' });
  const page = await context.newPage();
  await page.clock.setFixedTime(atMs);
  await page.goto(pages[name] ?? '/');
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

/** A screenshot once two in a row are equal. */
async function steadyShot(page: Page): Promise<Buffer> {
  let last: Buffer = Buffer.alloc(0);
  return await eventually('a page that does not change', async () => {
    if ((await page.getByLabel('Loading', { exact: true }).count()) > 0) return null;
    const shot = await page.screenshot({ animations: 'disabled', caret: 'hide' });
    const isSteady = shot.equals(last);
    last = shot;
    return isSteady && shot;
  });
}

describe.skipIf(isAbsent)('every page in a recorded state (skipped without a build or Chromium)', () => {
  const demo = isRenewing ? useDemoPages() : null;
  const names = isRenewing || isAbsent ? [] : Object.keys(readRecording(RECORDING).pages);
  let replay: Replay | null = null;
  const endings: (() => unknown)[] = [];
  const opened = () => {
    if (replay === null) throw new TypeError('the pages are served within tests alone');
    return replay;
  };

  beforeAll(async () => {
    if (demo !== null) {
      const recorder = new AnswerRecorder();
      const pages = await seedPages(demo, (page) => recorder.watch(page));
      await recorder.save(RECORDING, { atMs: systemClock.now(), pages });
      writeFileSync(VERSION, `${installed}\n`);
    }
    const recording = readRecording(RECORDING);
    const { url, server } = await serveRecording(recording);
    const browser = await openBrowser();
    endings.push(
      () => browser.close(),
      () => server.close(),
    );
    replay = { url, browser, atMs: recording.atMs, pages: recording.pages };
  });
  afterAll(async () => {
    for (const end of endings) await end();
  });

  describe.skipIf(isOther)(SKIPPED, () => {
    const compare = async (name: string) => {
      const page = await openFixed(opened(), name);
      const canvas = await opened().browser.newPage();
      const differences: string[] = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        for (const [size, [width, height]] of Object.entries(WIDTHS)) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height });
          const file = join(REFERENCES, `${name}-${size}-${colorScheme}.webp`);
          const difference = await comparePicture(canvas, await steadyShot(page), { file, isRenewing });
          if (difference !== null) differences.push(difference);
        }
      }
      await Promise.all([page.context().close(), canvas.close()]);
      expect(differences).toEqual([]);
    };
    it.each(names)('%s looks as in its six pictures', compare);
    it.runIf(isRenewing)('are written', async () => {
      for (const name of Object.keys(opened().pages)) await compare(name);
    });
  });

  it.each(names)('%s has no overlapping labels and no finding of axe, at three widths', async (name) => {
    const page = await openFixed(opened(), name);
    for (const [size, [width]] of Object.entries(WIDTHS)) {
      await page.setViewportSize({ width, height: TALL });
      await steadyShot(page);
      expect(await overlappingLabels(page), `${name}, ${size}`).toEqual([]);
      expect(await axeFindings(page), `${name}, ${size}`).toEqual([]);
    }
    await page.context().close();
  });
});
