/** Whether the addresses of the service can be listened at, or which process already does. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { type RequestOptions, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Config } from '../config.ts';
import { textOf, tryListening } from './checkAddress.ts';
import type { DoctorCheck } from './doctorCheck.ts';

const ANSWER_LIMIT_MS = 5_000;
const HEALTH_BYTES_MAX = 1_000;
const HEALTH_FIELDS = ['latest_snapshot', 'ok', 'snapshots_last_5min'];

type PortConfig = Pick<Config, 'host' | 'port' | 'metricsAddress' | 'tlsCertFile'>;

interface CheckedAddress {
  readonly check: string;
  readonly address: { readonly host: string; readonly port: number };
  /** The variables that change it. */
  readonly setBy: string;
  /** Only the API answers `/health`. */
  readonly isApi: boolean;
}

/** @param pid The process that records into the data directory; null: none. */
export async function portChecks(config: PortConfig, pid: number | null): Promise<DoctorCheck[]> {
  const { host, port, metricsAddress } = config;
  const setBy = 'UNDERROUND_PORT or UNDERROUND_HOST';
  const checked: CheckedAddress[] = [{ check: 'port', address: { host, port }, setBy, isApi: true }];
  if (metricsAddress !== null) {
    const metrics = { address: metricsAddress, setBy: 'UNDERROUND_METRICS_ADDRESS', isApi: false };
    checked.push({ check: 'metrics port', ...metrics });
  }
  return await Promise.all(checked.map((one) => portCheck(one, { config, pid })));
}

async function portCheck(
  { check, address, setBy, isApi }: CheckedAddress,
  { config, pid }: { config: PortConfig; pid: number | null },
): Promise<DoctorCheck> {
  const text = textOf(address);
  const ok = (finding: string) => ({ check, state: 'ok' as const, finding, next: null });
  const refusal = await tryListening(address);
  if (refusal === null)
    return ok(pid === null ? `${text} is free` : `${text} is free: process ${pid} does not use it`);
  const fail = (finding: string, next: string) => ({ check, state: 'fail' as const, finding, next });
  if (refusal.code !== 'EADDRINUSE')
    return fail(`cannot listen on ${text}: ${refusal.message}`, `set ${setBy} to an address of this machine`);
  const isOurs = pid !== null && (await listensAt(pid, address.port)) !== false;
  if (!isApi && isOurs) return ok(`process ${pid}, which records into this directory, uses ${text}`);
  const answers = isApi && (await answersHealth(address, config.tlsCertFile !== null));
  if (isOurs && answers) return ok(`process ${pid}, which records into this directory, answers at ${text}`);
  if (isOurs) {
    const next = 'read the service’s log; restart the service if it does not stop by itself';
    return fail(`process ${pid} uses ${text} and does not answer there`, next);
  }
  const user = answers ? 'a service that does not record into this directory' : 'another program';
  return fail(`${user} uses ${text}`, `stop it, or set ${setBy} to a free address`);
}

/** Whether a process listens at a port; null where this system does not say so. */
async function listensAt(pid: number, port: number): Promise<boolean | null> {
  try {
    const sockets = new Set<string>();
    for (const table of ['tcp', 'tcp6']) {
      const lines = (await readFile(`/proc/${pid}/net/${table}`, 'utf8').catch(() => '')).split('\n');
      for (const line of lines) {
        const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/);
        const isListening = state === '0A' && Number.parseInt(local.split(':').at(-1) ?? '', 16) === port;
        if (isListening) sockets.add(`socket:[${inode}]`);
      }
    }
    for (const name of await readdir(`/proc/${pid}/fd`)) {
      const target = await readlink(`/proc/${pid}/fd/${name}`).catch(() => '');
      if (sockets.has(target)) return true;
    }
    return false;
  } catch {
    return null;
  }
}

/** Whether `/health` answers as this service does. */
function answersHealth({ host, port }: { host: string; port: number }, isTls: boolean): Promise<boolean> {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const place: RequestOptions = { host: everywhere[host] ?? host, port, path: '/health' };
  return new Promise((resolve) => {
    const limit = { signal: AbortSignal.timeout(ANSWER_LIMIT_MS), agent: false } as const;
    // The certificate is for the name that clients use.
    const asked = isTls
      ? requestHttps({ ...place, ...limit, rejectUnauthorized: false })
      : requestHttp({ ...place, ...limit });
    asked.once('response', (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        body += text;
        if (body.length > HEALTH_BYTES_MAX) response.destroy();
      });
      response.once('close', () => resolve(isHealth(body)));
    });
    asked.once('error', () => resolve(false));
    asked.end();
  });
}

function isHealth(body: string): boolean {
  try {
    const fields = Object.keys(JSON.parse(body)).sort();
    return fields.join() === HEALTH_FIELDS.join();
  } catch {
    return false;
  }
}
