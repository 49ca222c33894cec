import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type CheckoutCopy, copyCheckout, RELEASE_FOLDER } from './support/checkoutCopy.ts';
import { eventually, isRunning } from './support/runningService.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

let copy: CheckoutCopy;
const command = () => join(copy.root, 'bin/underround.mjs');

beforeEach(() => {
  copy = copyCheckout('99.0');
  copy.pinRelease();
  // The newer Node is already in place.
  const program = join(copy.root, '.cache', RELEASE_FOLDER, 'bin/node');
  mkdirSync(dirname(program), { recursive: true });
  symlinkSync(process.execPath, program);
});

interface Launched {
  readonly launcher: ChildProcess;
  readonly processId: number;
  /** Standard output after the process id. */
  out(): string;
  readonly ended: Promise<{ exit: number | null; signal: NodeJS.Signals | null; out: string; err: string }>;
}

/** Starts the command with this script as its main module, in a process group of its own. */
async function launch(script: string): Promise<Launched> {
  copy.write('dist/cli/main.js', `${script}\nconsole.log('pid', process.pid);`);
  const launcher = spawn(process.execPath, [command()], { detached: true });
  onTestFinished(() => {
    if (isRunning(launcher.pid as number)) process.kill(-(launcher.pid as number), 'SIGKILL');
  });
  let [out, err] = ['', ''];
  launcher.stdout.on('data', (chunk) => {
    out += chunk;
  });
  launcher.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const rest = () => out.replace(/^pid \d+\n/, '');
  const ended: Launched['ended'] = new Promise((resolve) => {
    launcher.once('close', (exit, signal) => resolve({ exit, signal, out: rest(), err }));
  });
  const processId = await eventually('process id', async () => Number(/^pid (\d+)\n/m.exec(out)?.[1]));
  return { launcher, processId, out: rest, ended };
}

const END = { exit: null, signal: null, out: '', err: '' };
/** Keeps a process running. */
const STAY = "new MessageChannel().port1.on('message', () => {});";
/** Prints every signal and exits after the given one. */
const noteUntil = (last: string) => `
  for (const signal of ${JSON.stringify(SIGNALS)}) {
    process.on(signal, () => {
      console.log(signal);
      if (signal === '${last}') process.exit(5);
    });
  }
  ${STAY}`;

describe.skipIf(process.platform === 'win32')('a script that runs in another Node', () => {
  it('runs in another process, and its exit code is passed on', async () => {
    const { launcher, processId, ended } = await launch('process.exitCode = 7;');
    expect(processId).not.toBe(launcher.pid);
    expect(await ended).toEqual({ ...END, exit: 7 });
  });

  it('shares standard input, output and error, and the launcher writes nothing to them', async () => {
    const { launcher, ended } = await launch("process.stdin.pipe(process.stdout); console.error('problem');");
    launcher.stdin?.end('{"id":1}\n{"id":2}\n');
    expect(await ended).toEqual({ exit: 0, signal: null, out: '{"id":1}\n{"id":2}\n', err: 'problem\n' });
  });

  it.each([...SIGNALS, 'SIGKILL', 'SIGABRT'] as const)(
    'passes on that the script ended by %s',
    async (signal) => {
      const { processId, ended } = await launch(STAY);
      process.kill(processId, signal);
      expect(await ended).toEqual({ ...END, signal });
    },
  );

  it.each(SIGNALS)('receives %s from the launcher, with the usual effect', async (signal) => {
    const { launcher, ended } = await launch(STAY);
    launcher.kill(signal);
    expect(await ended).toEqual({ ...END, signal });
  });

  it.each([
    ['SIGINT', 'SIGTERM'],
    ['SIGTERM', 'SIGHUP'],
    ['SIGHUP', 'SIGINT'],
  ] as const)(
    'receives %s once, whether it was sent to the launcher or to its whole group',
    async (signal, last) => {
      const { launcher, out, ended } = await launch(noteUntil(last));
      launcher.kill(signal);
      await eventually('first signal', async () => out() === `${signal}\n`);
      process.kill(-(launcher.pid as number), signal);
      await eventually('second signal', async () => out() === `${signal}\n`.repeat(2));
      // Arrives after every earlier signal that the launcher passed on.
      launcher.kill(last);
      expect(await ended).toEqual({ ...END, exit: 5, out: `${signal}\n${signal}\n${last}\n` });
    },
  );

  it('stops in order, as after SIGTERM, when the launcher is killed', async () => {
    const note = join(copy.root, 'note');
    const { launcher, processId } = await launch(`
      import { writeFileSync } from 'node:fs';
      process.on('SIGTERM', () => {
        writeFileSync(${JSON.stringify(note)}, 'stopped');
        process.exit();
      });
      ${STAY}`);
    launcher.kill('SIGKILL');
    await eventually('end of the process', async () => !isRunning(processId));
    expect(readFileSync(note, 'utf8')).toBe('stopped');
  });

  it('ends when the launcher is killed and the script does not handle signals', async () => {
    const { launcher, processId } = await launch(STAY);
    launcher.kill('SIGKILL');
    await eventually('end of the process', async () => !isRunning(processId));
  });

  it('finds the same Node for its child processes', async () => {
    const { ended } = await launch(`
      import { execFileSync } from 'node:child_process';
      console.log(execFileSync('node', ['-p', 'process.argv0'], { encoding: 'utf8' }).trim());
      console.log(process.env.PATH.split(':')[0], process.argv.length, process.execArgv.length);`);
    const { out } = await ended;
    expect(out).toContain(`${join(copy.root, '.cache', RELEASE_FOLDER, 'bin')} 2 0\n`);
  });

  it('receives the Node options of the launcher', async () => {
    copy.write('dist/cli/main.js', 'console.log(process.execArgv);');
    const { stdout } = spawnSync(process.execPath, ['--max-old-space-size=99', command()], {
      encoding: 'utf8',
    });
    expect(stdout).toBe("[ '--max-old-space-size=99' ]\n");
  });

  it('reports in one line that its Node does not start', async () => {
    const program = join(copy.root, '.cache', RELEASE_FOLDER, 'bin/node');
    rmSync(program);
    copy.write(`.cache/${RELEASE_FOLDER}/bin/node`, 'nothing', 0o644);
    copy.write('dist/cli/main.js', '');
    const { status, stderr } = spawnSync(process.execPath, [command()], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([1, `underround: ${program} does not start (EACCES)\n`]);
  });
});
