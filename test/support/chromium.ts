import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The headless shell first: it draws the same pictures in half the processor time. */
const INSTALLED = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync);

export const isChromiumInstalled = INSTALLED !== undefined;

/** Path of the installed Chromium; where none is found, the name that its absence is reported by. */
const CHROMIUM = INSTALLED ?? 'chromium';

/** Version of the installed Chromium, such as `Chromium 156.0.8078.108`, without the name of its packager. */
export function chromiumVersion(): string {
  const text = execFileSync(CHROMIUM, ['--version'], { encoding: 'utf8' });
  return /^.*?\d[\d.]*/.exec(text)?.[0] ?? text.trim();
}

export function openBrowser(): Promise<Browser> {
  // Chromium refuses to run its sandbox as root, the usual user in containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: CHROMIUM, args });
}
