import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importCircles } from './support/importCircles.ts';
import {
  importsOf,
  PROJECT_ROOT,
  type SourceFile,
  sourceFiles,
  withoutComments,
} from './support/sourceFiles.ts';

const LINES_MAX = 500;
const LINES_MAX_TEST = 500;
const GENERATED_TYPES = ['web/src/api/schema.ts', 'src/client/schema.ts'];

interface Ban {
  readonly name: string;
  readonly pattern: RegExp;
  /** Where it may appear, and why. A path ending in `/` means the whole folder. */
  readonly allowed: Readonly<Record<string, string>>;
  /** A text that the pattern must find and one that it must not, so that the pattern itself is tested. */
  readonly bad: string;
  readonly good: string;
}

const CLOCK = 'the one place that reads the machine';
const CLIENT_CLOCK = 'the clock of the client, which is published without the rest';
const BANS: readonly Ban[] = [
  {
    name: 'Date.now()',
    pattern: /\bDate\.now\(/,
    allowed: { 'src/runtime/clock.ts': CLOCK, 'src/client/clock.ts': CLIENT_CLOCK },
    bad: 'const now = Date.now();',
    good: 'const now = clock.now();',
  },
  {
    name: 'the present as a Date',
    pattern: /\bnew Date(?:\(\s*\)|(?!\w|\())/,
    allowed: {},
    bad: 'const now = new Date();',
    good: 'const then = new Date(timeMs);',
  },
  {
    name: 'Math.random()',
    pattern: /\bMath\.random\b/,
    allowed: {
      'src/service/startService.ts': 'passes the random source to everything else',
      'src/cli/': 'a command that runs without the service passes it on itself',
      'src/client/requests.ts': 'the default of an option, for programs that use the client',
    },
    bad: 'const jitter = Math.random();',
    good: 'const jitter = random();',
  },
  {
    name: 'a timer',
    pattern: /(?<![.\w])set(?:Timeout|Interval)\(/,
    allowed: {
      'src/runtime/clock.ts': CLOCK,
      'src/client/clock.ts': CLIENT_CLOCK,
      'src/store/engine/host/main.ts': 'a separate process, to which nothing passes a clock',
      'src/cli/running.ts': 'ends the process when stopping hangs, whatever the clock is',
    },
    bad: 'setTimeout(run, 5);',
    good: 'socket.setTimeout(5);',
  },
  {
    name: 'process.env',
    pattern: /\bprocess\.env\b/,
    allowed: {
      'src/config.ts': CLOCK,
      'src/store/engine/host/main.ts': 'a separate process, configured by its parent',
      'src/cli/': 'the demo sets variables for the service it starts',
    },
    bad: 'const port = process.env.PORT;',
    good: 'const port = config.port;',
  },
  {
    name: 'console',
    pattern: /\bconsole\.\w/,
    allowed: {
      'src/cli/': 'prints the results of commands',
      'src/http/description/command.ts': 'the text of an example that its reader runs',
    },
    bad: "console.log('x');",
    good: "logger.info('x');",
  },
];

/** A test that measures time, or that stops waiting before a slow machine is done, fails without a defect. */
const TEST_BANS: readonly Ban[] = [
  {
    name: 'elapsed time',
    pattern: /\bperformance\.now\(|\bhrtime\b/,
    allowed: {
      'test/support/runningService.ts': 'ends a wait for an event that never happens',
      'test/support/fastClock.ts': 'is a clock',
      'test/crash/run.ts': 'a command; prints its duration',
      'src/strategy/strategyThreads.test.ts': 'the text of a strategy whose uses are counted',
    },
    bad: 'expect(performance.now() - start).toBeLessThan(50);',
    good: 'expect(clock.monotonic() - start).toBe(50);',
  },
  {
    name: 'a sleep',
    pattern: /(?<![.\w])set(?:Timeout|Interval)\(|waitForTimeout\(/,
    allowed: { 'src/strategy/strategyThreads.test.ts': 'the text of a strategy whose uses are counted' },
    bad: 'setTimeout(resolve, 50)',
    good: 'await clock.advance(50);',
  },
  {
    name: 'a wait that gives up after a second',
    pattern: /\bvi\.wait(?:For|Until)\(/,
    allowed: {},
    bad: 'await vi.waitFor(() => expect(told).toBe(1));',
    good: "await eventually('word', async () => told === 1);",
  },
  {
    name: 'a time limit of one test',
    pattern: /^\s*\}, [\d_]{4,}\);|\btimeout: [\d_]{4,}/,
    allowed: { 'src/core/ledger.test.ts': 'runs for a configured time' },
    bad: '  }, 60_000);',
    good: '  });',
  },
];

const sources = sourceFiles('src').filter((file) => file.path.endsWith('.ts'));
const isTest = (path: string) => /\.test\.ts$/.test(path);
const modules = sources.filter((file) => !isTest(file.path));
const tests = [...sources.filter((file) => isTest(file.path)), ...sourceFiles('test')].filter(
  (file) => file.path.endsWith('.ts') && file.path !== 'test/tidy.test.ts',
);
const everything = sourceFiles('src', 'test', 'bin', 'scripts', 'bench', 'docs', 'client', 'web');

function isAllowed(path: string, allowed: Readonly<Record<string, string>>): boolean {
  return Object.keys(allowed).some((place) =>
    place.endsWith('/') ? path.startsWith(place) : path === place,
  );
}

/** `path:line` of each line that matches. */
function linesWith(file: SourceFile, pattern: RegExp, text = file.text): string[] {
  return text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${file.path}:${index + 1}`] : []));
}

describe('calls that make a test depend on the machine', () => {
  it.each(BANS)('$name appears only where it is allowed', ({ pattern, allowed }) => {
    const found = modules
      .filter((file) => !isAllowed(file.path, allowed))
      .flatMap((file) => linesWith(file, pattern, withoutComments(file.text)));
    expect(found).toEqual([]);
  });

  it.each(TEST_BANS)('$name appears in no test', ({ pattern, allowed }) => {
    const found = tests
      .filter((file) => !isAllowed(file.path, allowed))
      .flatMap((file) => linesWith(file, pattern, withoutComments(file.text)));
    expect(found).toEqual([]);
  });

  it.each([...BANS, ...TEST_BANS])(
    'the pattern for $name finds it and nothing else',
    ({ pattern, bad, good }) => {
      expect(pattern.test(bad)).toBe(true);
      expect(pattern.test(good)).toBe(false);
      expect(pattern.test(withoutComments(`/* ${bad} */ // ${bad}`))).toBe(false);
    },
  );
});

/** The rooms of `src/`, the lowest floor first: folders, and by name the modules beside them. */
const FLOORS: readonly (readonly string[])[] = [
  ['schema', 'runtime', 'client'],
  ['core', 'config'],
  ['store', 'venues', 'bus', 'control'],
  ['recorder', 'accounts', 'print', 'simulator'],
  ['ops', 'backtest', 'strategy', 'signals', 'lifecycle'],
  ['trading', 'stream', 'webhooks', 'report'],
  ['http'],
  ['api', 'mcp', 'controlDatabase'],
  ['service', 'backup', 'upgrade'],
  ['cli'],
];

const roomOf = (path: string) => /^src\/(\w+)/.exec(path)?.[1] ?? null;
const floorOf = (room: string) => FLOORS.findIndex((rooms) => rooms.includes(room));

/** Why a module may not import something, or null when it may. */
function importFault(from: string, target: string): string | null {
  if (target.startsWith('test/') || ['vitest', 'fast-check'].includes(target))
    return 'a module imports a test';
  const [room, other] = [roomOf(from), roomOf(target)];
  if (room === null || floorOf(room) < 0) return `${from} is in no room that FLOORS names`;
  if (room === 'schema' && other !== 'schema' && target !== 'zod')
    return 'schema/ imports schema/ and zod alone';
  if (room === 'client' && other !== 'client') return 'client/ imports client/ alone';
  if (other === null || other === room) return null;
  if (room === 'core' && other !== 'schema') return 'core/ imports core/ and schema/ alone';
  if (floorOf(other) < 0) return `${target} is in no room that FLOORS names`;
  return floorOf(other) < floorOf(room) ? null : `${other} is not below ${room}`;
}

describe('rooms', () => {
  it('import only from lower floors', () => {
    const faults = modules.flatMap((file) =>
      importsOf(file).flatMap((target) => {
        const fault = importFault(file.path, target);
        return fault === null ? [] : [`${file.path} -> ${target}: ${fault}`];
      }),
    );
    expect(faults).toEqual([]);
  });

  it('are on the floors that docs/ARCHITECTURE.md names, and are all there are', () => {
    const page = readFileSync(join(PROJECT_ROOT, 'docs/ARCHITECTURE.md'), 'utf8');
    const rows = [...page.matchAll(/^\| (\d*) ?\| ((?:`\w+(?:\/|\.ts)`(?:, )?)+) \|/gm)];
    const named: string[][] = FLOORS.map(() => []);
    let current = '';
    for (const [, floor = '', rooms = ''] of rows) {
      current = floor || current;
      named[Number(current) - 1]?.push(...(rooms.match(/\w+(?=\/|\.ts)/g) ?? []));
    }
    expect(named.map((rooms) => rooms.sort())).toEqual(FLOORS.map((rooms) => [...rooms].sort()));
    expect([...new Set(modules.map(({ path }) => roomOf(path)))].sort()).toEqual(FLOORS.flat().sort());
  });

  it.each([
    ['src/core/book.ts', '../store/store.ts', true],
    ['src/core/book.ts', '../schema/market.ts', false],
    ['src/core/book.ts', './money.ts', false],
    ['src/core/a/book.ts', '../money.ts', false],
    ['src/schema/tier.ts', '../core/money.ts', true],
    ['src/schema/tier.ts', 'pino', true],
    ['src/schema/tier.ts', 'zod', false],
    ['src/venues/bybit/feed.ts', '../../store/store.ts', true],
    ['src/venues/bybit/feed.ts', '../http.ts', false],
    ['src/service/startService.ts', '../cli/main.ts', true],
    ['src/cli/main.ts', './serve.ts', false],
    ['src/cli/main.ts', '../service/startService.ts', false],
    ['src/store/store.ts', '../bus/bus.ts', true],
    ['src/store/store.ts', '../config.ts', false],
    ['src/control/schema.ts', '../accounts/schemaAccounts.ts', true],
    ['src/recorder/recorder.ts', '../lifecycle/strikes.ts', true],
    ['src/lifecycle/collector.ts', '../recorder/recorder.ts', false],
    ['src/http/server.ts', '../api/routes.ts', true],
    ['src/api/routes.ts', '../http/server.ts', false],
    ['src/service/startService.ts', '../cli.ts', true],
    ['src/newRoom/part.ts', './other.ts', true],
    ['src/service/startService.ts', '../newRoom/part.ts', true],
    ['src/core/book.ts', '../runtime/clock.ts', true],
    ['src/client/stream.ts', '../runtime/clock.ts', true],
    ['src/client/stream.ts', 'ws', true],
    ['src/client/stream.ts', './clock.ts', false],
    ['src/mcp/server.ts', '../client/client.ts', false],
    ['src/runtime/clock.ts', '../../test/support/fakeClock.ts', true],
  ])('%s importing %s is a fault: %s', (path, target, isFault) => {
    const spellings = [`import { x } from '${target}';`, `import '${target}';`, `await import('${target}');`];
    for (const text of spellings) {
      const faults = importsOf({ path, text }).map((resolved) => importFault(path, resolved));
      expect(faults.map((fault) => fault !== null)).toEqual([isFault]);
    }
  });
});

/** Modules of other rooms that the live trader may import: functions and classes without input or output. */
const PURE_IMPORTS = [
  'src/backtest/depth.ts',
  'src/recorder/bookCopy.ts',
  'src/runtime/boundedCache.ts',
  'lru-cache',
];

describe('the live trader', () => {
  const mayImport = (target: string) =>
    /^src\/(?:core|schema|trading\/live)\//.test(target) || PURE_IMPORTS.includes(target);

  it('imports no clock, log, database or network, so that it is pure', () => {
    const trader = modules.filter(({ path }) => path.startsWith('src/trading/live/') && !isTest(path));
    expect(trader.length).toBeGreaterThan(10);
    const faults = trader.flatMap((file) =>
      importsOf(file).flatMap((target) => (mayImport(target) ? [] : [`${file.path} -> ${target}`])),
    );
    expect(faults).toEqual([]);
  });

  it('imports other rooms only where they are pure too', () => {
    const pure = sources.filter(({ path }) => PURE_IMPORTS.includes(path));
    expect(pure.map(({ path }) => path)).toEqual(PURE_IMPORTS.filter((path) => path.startsWith('src/')));
    expect(pure.flatMap(importsOf).filter((target) => !mayImport(target))).toEqual([]);
  });
});

describe('modules that import each other', () => {
  const component = (path: string) => /\.tsx?$/.test(path) && !isTest(path);
  const file = (path: string, ...targets: string[]): SourceFile => ({
    path,
    text: targets.map((target) => `import type { X } from '${target}';\n`).join(''),
  });

  it('are none', () => {
    const pages = sourceFiles('web/src', 'client/src').filter(({ path }) => component(path));
    expect(pages.length).toBeGreaterThan(50);
    expect(importCircles([...modules, ...pages])).toEqual([]);
  });

  it('are found, two or more of them, wherever the circle is entered', () => {
    const pair = [file('src/a.ts', './b.ts'), file('src/b.ts', './a.ts')];
    expect(importCircles(pair)).toEqual([['src/a.ts', 'src/b.ts']]);
    const ring = [file('src/c.ts', './d/e.ts'), file('src/d/e.ts', './f.ts'), file('src/d/f.ts', '../c.ts')];
    const circle = ['src/c.ts', 'src/d/e.ts', 'src/d/f.ts'];
    const entry = file('src/entry.ts', './a.ts', './d/f.ts', 'pino');
    expect(importCircles([entry, ...ring, ...pair])).toEqual([['src/a.ts', 'src/b.ts'], circle]);
    expect(importCircles([file('src/self.ts', './self.ts')])).toEqual([['src/self.ts']]);
  });

  it('are not seen where two ways lead to one module', () => {
    const ends = [file('src/left.ts', './end.ts'), file('src/right.ts', './end.ts'), file('src/end.ts')];
    expect(importCircles([file('src/top.ts', './left.ts', './right.ts'), ...ends])).toEqual([]);
  });
});

describe('every file', () => {
  it('of code is short enough to read at once', () => {
    const tooLong = [...sources, ...sourceFiles('test', 'scripts', 'bench', 'bin', 'web')]
      .filter((file) => /\.(tsx?|mjs)$/.test(file.path) && !GENERATED_TYPES.includes(file.path))
      .map((file) => ({ path: file.path, lines: file.text.split('\n').length - 1 }))
      .filter(({ path, lines }) => lines > (isTest(path) ? LINES_MAX_TEST : LINES_MAX));
    expect(tooLong).toEqual([]);
  });

  it('and folder of code is named in camelCase, and components in PascalCase', () => {
    const component = /^web\/src\/(?:[a-z][A-Za-z0-9]*\/)*[A-Za-z][A-Za-z0-9]*\.(?:tsx?|css|module\.css)$/;
    const pages = sourceFiles('web/src').map((file) => file.path);
    expect(pages.filter((path) => !component.test(path))).toEqual([]);
    const name = /^(?:[a-z][A-Za-z0-9]*\/)+[a-z][A-Za-z0-9]*(?:\.[a-z]+)?\.(?:ts|mjs|json)$/;
    const files = sourceFiles('src', 'test', 'scripts', 'bench', 'bin').map((file) => file.path);
    const isData = (path: string) => path.startsWith('test/fixtures/');
    expect(files.filter((path) => !isData(path) && !name.test(path))).toEqual([]);
  });

  it('names an issue for each open task', () => {
    const leftover = new RegExp(
      `\\b(?:${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X'].join('|')})\\b(?!\\(#\\d+\\))`,
    );
    expect(everything.flatMap((file) => linesWith(file, leftover))).toEqual([]);
  });

  it('names no path of a single machine', () => {
    const place = /(?<![\w.:/$}-])\/(?:home|root|work|Users|tmp)\/\w/;
    expect(place.test("'/home/ann/x'")).toBe(true);
    expect(place.test('https://example.com/home/ann')).toBe(false);
    const others = everything.filter((file) => file.path !== 'test/tidy.test.ts');
    expect(others.flatMap((file) => linesWith(file, place))).toEqual([]);
  });
});

describe('package-lock.json', () => {
  const lock = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.entries<LockedPackage>(lock.packages);

  it('contains no download address', () => {
    expect(packages.length).toBeGreaterThan(50);
    const resolved = packages.filter(([, entry]) => entry.resolved !== undefined && entry.link !== true);
    expect(resolved.map(([path]) => path)).toEqual([]);
  });

  it('has the optional parts for other platforms, which a clean installation requires', () => {
    const locked = new Set(packages.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13)));
    const optional = packages.flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}));
    expect(optional.filter((name) => !locked.has(name))).toEqual([]);
  });
});

interface LockedPackage {
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
