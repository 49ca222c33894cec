/**
 * A control group that limits processes to a share of one core; version 1 or 2, whichever is mounted. Needs root on
 * Linux.
 */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PERIOD_US = 100_000;
const ROOT = '/sys/fs/cgroup';
/** Mount point of version 1's controller of CPU shares. */
const CPU_V1 = [join(ROOT, 'cpu'), join(ROOT, 'cpu,cpuacct')];

export class CpuGroup {
  readonly #parent: string;
  readonly #path: string;

  private constructor(parent: string, path: string) {
    this.#parent = parent;
    this.#path = path;
  }

  /** @throws Error Names the missing requirement. */
  static create(name: string, percent: number): CpuGroup {
    if (process.getuid?.() !== 0) throw new Error('--fault starve needs root: it makes a control group');
    const parent = CPU_V1.find((path) => existsSync(join(path, 'cpu.cfs_quota_us'))) ?? unifiedRoot();
    const group = new CpuGroup(parent, join(parent, name));
    mkdirSync(group.#path);
    const quotaUs = Math.round((PERIOD_US * percent) / 100);
    if (parent === ROOT) group.#write('cpu.max', `${quotaUs} ${PERIOD_US}`);
    else {
      group.#write('cpu.cfs_period_us', String(PERIOD_US));
      group.#write('cpu.cfs_quota_us', String(quotaUs));
    }
    return group;
  }

  /** Moves processes with all their threads into the group; processes they start later belong to it too. */
  add(pids: readonly number[]): void {
    for (const pid of pids) this.#write('cgroup.procs', String(pid));
  }

  /** Moves every process out again and removes the group. */
  remove(): void {
    if (!existsSync(this.#path)) return;
    const pids = readFileSync(join(this.#path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);
    for (const pid of pids) writeFileSync(join(this.#parent, 'cgroup.procs'), pid);
    rmdirSync(this.#path);
  }

  #write(file: string, text: string): void {
    writeFileSync(join(this.#path, file), text);
  }
}

/** The root of version 2, with CPU shares enabled for its groups. */
function unifiedRoot(): string {
  const controllers = join(ROOT, 'cgroup.controllers');
  const hasCpu = existsSync(controllers) && readFileSync(controllers, 'utf8').split(/\s+/).includes('cpu');
  if (!hasCpu) throw new Error('--fault starve needs a CPU controller of control groups, version 1 or 2');
  writeFileSync(join(ROOT, 'cgroup.subtree_control'), '+cpu');
  return ROOT;
}
