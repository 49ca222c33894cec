import type { Accounts } from '../../accounts/accounts.ts';
import { forbidden, type RequestRefusedError } from '../../http/refusal.ts';
import { type Route, route } from '../../http/route.ts';
import { signUpStateShape } from '../../schema/api/accountResources.ts';

const CLOSED = 'Sign-up is closed; ask the operator of this service for an account';
const NO_OPERATOR =
  'This service has no operator yet: the first sign-up needs the setup link that `underround serve` printed';
const INVALID_LINK =
  'This setup link is not valid: use the newest one; a restart of the service prints another';

export interface FirstRunDependencies {
  readonly control: Pick<Accounts, 'setup'>;
  /** Whether anyone may create an account; true by default. */
  readonly signUpOpen?: boolean;
}

/** Returns whether an operator exists and whether sign-up is open: the dashboard's first request. */
export function firstRunRoute(parts: FirstRunDependencies): Route {
  return route({
    method: 'GET',
    path: '/app/sign-up',
    auth: 'none',
    access: { feature: null, duringMaintenance: true },
    summary: 'Whether an operator exists, and whether sign-up is open',
    response: signUpStateShape,
    handle: async () => {
      const hasOperator = await parts.control.setup.hasOperator();
      return { body: JSON.stringify({ has_operator: hasOperator, open: parts.signUpOpen ?? true }) };
    },
  });
}

/**
 * Decides which role the next sign-up gets.
 * @param setup Token of the setup link; null if none was given.
 * @returns The role, or the 403 that explains what to do instead.
 */
export async function roleOfNext(
  { control, signUpOpen = true }: FirstRunDependencies,
  setup: string | null,
): Promise<'operator' | 'user' | RequestRefusedError> {
  if (await control.setup.hasOperator()) {
    if (setup !== null) return setupLinkUsed();
    return signUpOpen ? 'user' : forbidden(CLOSED);
  }
  if (setup === null) return forbidden(NO_OPERATOR);
  return (await control.setup.accepts(setup)) ? 'operator' : forbidden(INVALID_LINK);
}

export function setupLinkUsed() {
  return forbidden('This setup link was used: the service has its operator');
}
