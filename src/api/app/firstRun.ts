import { signUpStateShape } from '../../schema/api/accountResources.ts';
import type { ApiParts } from '../parts.ts';
import { forbidden } from '../refusal.ts';
import { type Route, route } from '../route.ts';

type Parts = Pick<ApiParts, 'control' | 'signUpOpen'>;

/** Whether there is anybody to sign in as, and who may sign up: the pages begin with it. */
export function firstRunRoute(parts: Parts): Route {
  return route({
    method: 'GET',
    path: '/app/sign-up',
    auth: 'none',
    access: { feature: null, duringMaintenance: true },
    summary: 'Whether the service has its operator, and whether others may sign up',
    response: signUpStateShape,
    handle: async () => {
      const hasOperator = await parts.control.setup.hasOperator();
      return { body: JSON.stringify({ has_operator: hasOperator, open: parts.signUpOpen ?? true }) };
    },
  });
}

/**
 * Decides who a sign-up makes.
 * @param setup Token of the setup link; null: none was given.
 * @returns True for the operator, false for an ordinary user.
 * @throws {RequestRefusedError} 403 with what to do instead.
 */
export async function becomesOperator({ control, signUpOpen = true }: Parts, setup: string | null) {
  if (await control.setup.hasOperator()) {
    if (setup !== null) throw setupLinkUsed();
    if (!signUpOpen) throw forbidden('Sign-up is closed; ask the operator of this service for an account');
    return false;
  }
  if (setup === null) {
    throw forbidden(
      'This service has no operator yet: the first sign-up needs the setup link that `underround serve` printed',
    );
  }
  if (!control.setup.accepts(setup)) {
    throw forbidden(
      'This setup link is not valid: use the newest one; a restart of the service prints another',
    );
  }
  return true;
}

export function setupLinkUsed() {
  return forbidden('This setup link was used: the service has its operator');
}
