/** The built service, started as a user starts it. */
import { type ChildProcess, spawn } from 'node:child_process';

export interface StartedService {
  readonly child: ChildProcess;
  readonly port: number;
  /** From the start of the process to the line that says it is ready. */
  readonly readyMs: number;
}

/** @param venueUrls The environment that points it at the venues. @throws {Error} Where it ends before it is ready. */
export async function startService(
  dataDir: string,
  venueUrls: Readonly<Record<string, string>>,
): Promise<StartedService> {
  const begun = performance.now();
  const env = {
    ...{ PATH: process.env.PATH ?? '', UNDERROUND_DATA_DIR: dataDir, UNDERROUND_PORT: '0' },
    ...venueUrls,
  };
  const child = spawn(process.execPath, ['bin/underround.mjs', 'serve'], { env });
  child.stderr.resume();
  const port = await new Promise<number>((resolve, reject) => {
    let out = '';
    child.stdout.on('data', (chunk) => {
      out += chunk;
      const ready = /ready http:\/\/[^:]+:(\d+)/.exec(out)?.[1];
      if (ready) resolve(Number(ready));
    });
    child.once('exit', () => reject(new Error('the service did not start')));
  });
  return { child, port, readyMs: performance.now() - begun };
}
