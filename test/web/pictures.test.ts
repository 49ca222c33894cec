import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { axeFindings, browserAbsent } from '../support/browser.ts';
import { chromiumVersion } from '../support/chromium.ts';
import { comparePicture } from '../support/comparedPictures.ts';
import { useDemoPages } from '../support/demoPages.ts';
import { overlappingLabels } from '../support/labelBoxes.ts';
import { AnswerRecorder } from '../support/recordedAnswers.ts';
import {
  RECORDING,
  REFERENCES,
  recordingAbsent,
  steadyShot,
  useRecordedPages,
} from '../support/recordedPages.ts';
import { PAGE_NAMES, seedPages } from '../support/seededPages.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';

/** `npm run pictures` draws all references again, `npm run pictures:record` from new answers of a demo. */
const task = process.env.npm_lifecycle_event ?? '';
const isRenewing = task === 'pictures' || task === 'pictures:record';
const isRecording = isRenewing && (task === 'pictures:record' || recordingAbsent);
const VERSION = join(REFERENCES, 'chromium.json');
const WIDTHS = { wide: [1440, 900], medium: [1024, 768], phone: [390, 844] } as const;
/** Above the longest page, so that every label is measured. */
const TALL = 3_000;

/** Pages with pictures in `docs/images`. */
const DOCUMENTED: ReadonlySet<string> = new Set([
  ...['live', 'market', 'perpetuals', 'calibration', 'signals', 'backtest', 'paper'],
  ...['webhooks', 'keys', 'operator'],
]);

const installed = browserAbsent ? '' : chromiumVersion();
const drawnBy = existsSync(VERSION) ? JSON.parse(readFileSync(VERSION, 'utf8')) : 'no version';
const isOther = !isRenewing && installed !== drawnBy;
const SKIPPED = isOther
  ? `pictures of every page (skipped: drawn by ${drawnBy}, not by ${installed})`
  : 'pictures of every page';

describe.runIf(isRecording && !browserAbsent)('a recording', () => {
  const demo = useDemoPages();
  it('has every page', async () => {
    const recorder = new AnswerRecorder();
    const pages = await seedPages(demo, recorder);
    recorder.save(RECORDING, { atMs: systemClock.now(), pages });
  });
});

const ABSENT = 'every page in a recorded state (skipped without a build, Chromium or a recording)';
describe.skipIf(browserAbsent || (recordingAbsent && !isRecording))(ABSENT, () => {
  const pages = useRecordedPages();
  beforeAll(() => {
    if (isRenewing) writeFileSync(VERSION, `${JSON.stringify(installed)}\n`);
  });

  /** Compares, or writes, the six pictures of a page. */
  async function compare(name: string): Promise<void> {
    const page = await pages.open(name);
    const canvas = await pages.browser.newPage();
    const differences: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [size, [width, height]] of Object.entries(WIDTHS)) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height });
        const file = join(REFERENCES, `${name}-${size}-${colorScheme}.webp`);
        const difference = await comparePicture(canvas, await steadyShot(page), {
          ...{ file, isRenewing },
          documented:
            size === 'wide' && colorScheme === 'light' && DOCUMENTED.has(name)
              ? join(PROJECT_ROOT, 'docs/images/after', `${name}.webp`)
              : null,
        });
        if (difference !== null) differences.push(difference);
      }
    }
    await Promise.all([page.context().close(), canvas.close()]);
    expect(pages.missing).toEqual([]);
    expect(differences).toEqual([]);
  }

  describe.skipIf(isOther)(SKIPPED, () => {
    it.each(PAGE_NAMES)('%s looks as in its six pictures', compare);
  });

  it.skipIf(isRenewing).each(PAGE_NAMES)(
    '%s: no labels overlap and axe finds nothing, at three widths',
    async (name) => {
      const page = await pages.open(name);
      for (const [size, [width]] of Object.entries(WIDTHS)) {
        await page.setViewportSize({ width, height: TALL });
        await steadyShot(page);
        expect(await overlappingLabels(page), `${name}, ${size}`).toEqual([]);
        expect(await axeFindings(page), `${name}, ${size}`).toEqual([]);
      }
      await page.context().close();
      expect(pages.missing).toEqual([]);
    },
  );
});
