import type { Accounts } from '../../accounts/accounts.ts';
import { DEFAULT_RETRY_AFTER_SECONDS, MAX_RETRY_AFTER_SECONDS } from '../../accounts/maintenance.ts';
import { MAX_MESSAGE_LENGTH } from '../../accounts/maintenanceSwitch.ts';
import { type Route, route } from '../../http/route.ts';
import { maintenanceShape } from '../../schema/api/accountResources.ts';
import {
  defaultMember,
  jsonBoolean,
  jsonInteger,
  jsonText,
  optionalMember,
  requiredMember,
} from '../../schema/api/body.ts';
import { text } from '../../schema/api/types.ts';
import { formatTime } from '../../schema/time.ts';
import { signedIn } from './signedIn.ts';

/** Closing the service for a while; the routes an operator needs to open it again stay. */
export function maintenanceRoutes(parts: {
  control: Pick<Accounts, 'maintenance' | 'events' | 'settled'>;
}): Route[] {
  const status = async () => {
    const now = await parts.control.maintenance.status();
    return {
      body: JSON.stringify({
        on: now !== null,
        retry_after_seconds: now?.retryAfterSeconds ?? null,
        message: now?.message ?? null,
        since: now === null ? null : formatTime(now.sinceMs),
      }),
    };
  };
  return [
    route({
      method: 'GET',
      path: '/app/maintenance',
      auth: 'operator',
      access: { feature: null, duringMaintenance: true },
      summary: 'Whether maintenance mode is on',
      response: maintenanceShape,
      handle: status,
    }),
    route({
      method: 'PUT',
      path: '/app/maintenance',
      auth: 'operator',
      access: { feature: null, duringMaintenance: true },
      summary: 'Switch maintenance mode on or off; while it is on, requests get 503 with `Retry-After`',
      body: {
        on: requiredMember(jsonBoolean, 'Whether maintenance mode is on'),
        retry_after_seconds: defaultMember(
          jsonInteger({ ge: 1, le: MAX_RETRY_AFTER_SECONDS }),
          DEFAULT_RETRY_AFTER_SECONDS,
          '`Retry-After` of the responses, in seconds',
        ),
        message: optionalMember(
          jsonText(text({ minLength: 1, maxLength: MAX_MESSAGE_LENGTH, pattern: '^\\P{Cc}*$' })),
          '`detail` of the responses meanwhile; null: the default text',
        ),
      },
      response: maintenanceShape,
      handle: async ({ body, session, client: { address } }) => {
        const { maintenance, events, settled } = parts.control;
        const { retry_after_seconds: retryAfterSeconds, message } = body;
        if (body.on) await maintenance.close({ retryAfterSeconds, message });
        else await maintenance.open();
        await events.record({
          action: body.on ? 'maintenance_on' : 'maintenance_off',
          ...{ actor: signedIn({ session }).user.email, address, detail: body.on ? message : null },
        });
        await settled();
        return await status();
      },
    }),
  ];
}
