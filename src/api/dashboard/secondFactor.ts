import type { Accounts } from '../../accounts/accounts.ts';
import type { SecondFactors } from '../../accounts/users/secondFactors.ts';
import type { User } from '../../accounts/users/users.ts';
import { conflict, forbidden } from '../../http/refusal.ts';
import { type Client, type Route, route } from '../../http/route.ts';
import {
  newSecondFactorShape,
  recoveryCodesShape,
  secondFactorShape,
} from '../../schema/api/accountResources.ts';
import { provenPasswordHash } from './currentPassword.ts';
import { code, password } from './members.ts';
import { signedIn } from './signedIn.ts';
import type { SignInAttempts } from './signInAttempts.ts';

export interface SecondFactorDependencies {
  readonly control: Pick<Accounts, 'users' | 'passwords' | 'events'>;
  /** One-time codes beside passwords. */
  readonly secondFactors: SecondFactors;
}

const PATH = '/app/second-factor';
const SHARED = { auth: 'session', access: { feature: null } } as const;

/** One-time codes of an authenticator app (TOTP), for who wants them. */
export function secondFactorRoutes(parts: SecondFactorDependencies, attempts: SignInAttempts): Route[] {
  const { secondFactors } = parts;
  return [
    route({
      ...{ method: 'GET', path: PATH, ...SHARED },
      summary: 'Whether the user has enabled one-time codes',
      response: secondFactorShape,
      handle: async (request) => {
        const { isEnabled, recoveryCodesLeft } = await secondFactors.state(signedIn(request).user.userId);
        return { body: JSON.stringify({ enabled: isEnabled, recovery_codes_left: recoveryCodesLeft }) };
      },
    }),
    route({
      ...{ method: 'POST', path: PATH, ...SHARED },
      summary: 'Create a secret for an authenticator app; confirming a code enables it',
      response: newSecondFactorShape,
      refusals: [409],
      handle: async (request) => {
        const begun = await secondFactors.begin(signedIn(request).user);
        if (begun === null) throw conflict('One-time codes are enabled; disable them first');
        return { body: JSON.stringify(begun) };
      },
    }),
    confirmRoute(parts, attempts),
    disableRoute(parts, attempts),
  ];
}

function confirmRoute({ control, secondFactors }: SecondFactorDependencies, attempts: SignInAttempts): Route {
  return route({
    ...{ method: 'POST', path: `${PATH}/confirm`, ...SHARED },
    summary:
      'Enable one-time codes with the password and a code; only this response contains the recovery codes',
    body: { password, code },
    beforeBody: attempts.beforeBody,
    response: recoveryCodesShape,
    handle: async (request) => {
      const { user } = signedIn(request);
      const { body, client } = request;
      await attempts.tryAccount({ address: client.address, email: user.email });
      // Whoever has only the session, at a desk left open, must not lock the owner out with codes of their own.
      const right = (await provenPasswordHash(control, user, body.password)) !== null;
      const codes = right ? await secondFactors.confirm(user.userId, body.code) : null;
      const reason = codes !== null ? null : right ? 'wrong code' : 'wrong password';
      await control.events.record(eventOf('enable_totp', user, client, reason));
      if (!right) throw forbidden('The password is wrong');
      if (codes === null) throw forbidden('The code is wrong; check the clock of the device');
      return { body: JSON.stringify({ recovery_codes: codes }) };
    },
  });
}

function disableRoute({ control, secondFactors }: SecondFactorDependencies, attempts: SignInAttempts): Route {
  return route({
    ...{ method: 'POST', path: `${PATH}/disable`, ...SHARED },
    summary: 'Disable one-time codes; requires the password and a code',
    body: { password, code },
    beforeBody: attempts.beforeBody,
    success: 204,
    response: null,
    handle: async (request) => {
      const { user } = signedIn(request);
      const { body, client } = request;
      await attempts.tryAccount({ address: client.address, email: user.email });
      const right = (await provenPasswordHash(control, user, body.password)) !== null;
      // A valid code is used up only if the password is right.
      const done = right && (await secondFactors.use(user.userId, body.code));
      if (done) await secondFactors.remove(user.userId);
      const reason = done ? null : right ? 'wrong code' : 'wrong password';
      await control.events.record(eventOf('disable_totp', user, client, reason));
      if (!done) throw forbidden('The password or the code is wrong');
      return { status: 204, body: '' };
    },
  });
}

function eventOf(
  action: 'enable_totp' | 'disable_totp',
  { email }: User,
  { address }: Client,
  reason: string | null,
) {
  return { action, email, address, reason };
}
