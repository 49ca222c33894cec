import type { Command } from 'commander';
import type { MaintenanceStatus } from '../accounts/maintenanceSwitch.ts';
import { formatTime } from '../schema/time.ts';
import { type Control, type ControlOptions, withControl } from './control.ts';

interface OnOptions extends ControlOptions {
  readonly retryAfter: string;
  readonly message?: string;
}

/** `underround maintenance on|off|status`: closes a running service to its users, and opens it again. */
export function registerMaintenance(program: Command): void {
  const maintenance = program
    .command('maintenance')
    .description('maintenance mode: every request gets a 503; recording continues');
  const command = (name: string, description: string) =>
    maintenance
      .command(name)
      .description(description)
      .option('--json', 'print JSON')
      .option('--data-dir <dir>', 'data directory (UNDERROUND_DATA_DIR)');
  command('on', 'start maintenance mode; applies from the next request')
    .option('--retry-after <seconds>', 'value of the Retry-After header', '60')
    .option('--message <text>', 'message shown to clients')
    .action(on);
  command('off', 'end maintenance mode').action(off);
  command('status', 'show whether maintenance mode is on').action(status);
}

function on(options: OnOptions): Promise<void> {
  return withControl(options, 'change', async (control) => {
    const retryAfterSeconds = Number(options.retryAfter.trim() === '' ? Number.NaN : options.retryAfter);
    const message = options.message ?? null;
    await control.maintenance.close({ retryAfterSeconds, message });
    const { COMMAND_LINE } = await import('../accounts/users/accountEvents.ts');
    await control.events.record({ action: 'maintenance_on', actor: COMMAND_LINE, detail: message });
    await control.settled();
    await show(options, control);
  });
}

function off(options: ControlOptions): Promise<void> {
  return withControl(options, 'change', async (control) => {
    await control.maintenance.open();
    const { COMMAND_LINE } = await import('../accounts/users/accountEvents.ts');
    await control.events.record({ action: 'maintenance_off', actor: COMMAND_LINE });
    await control.settled();
    await show(options, control);
  });
}

function status(options: ControlOptions): Promise<void> {
  return withControl(options, 'read', (control) => show(options, control));
}

async function show(options: ControlOptions, { maintenance }: Control): Promise<void> {
  const now = await maintenance.status();
  console.log(options.json ? JSON.stringify(toJson(now)) : toLine(now));
}

function toJson(now: MaintenanceStatus | null) {
  return {
    on: now !== null,
    retry_after_seconds: now?.retryAfterSeconds ?? null,
    message: now?.message ?? null,
    since: now === null ? null : formatTime(now.sinceMs),
  };
}

function toLine(now: MaintenanceStatus | null): string {
  if (now === null) return 'open';
  const { sinceMs, retryAfterSeconds, message } = now;
  const since = `closed since ${formatTime(sinceMs)}, clients retry after ${retryAfterSeconds} s`;
  return message === null ? since : `${since}: ${message}`;
}
