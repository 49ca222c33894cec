import { signUpStateShape } from '../../schema/api/accountResources.ts';
import type { ApiParts } from '../parts.ts';
import { type Route, route } from '../route.ts';

/** Whether there is anybody to sign in as, so that the first to open a service is led to sign up. */
export function firstRunRoute({ control }: Pick<ApiParts, 'control'>): Route {
  // An operator stays one: the store is asked until there is one, and never again.
  let hasOperator = false;
  return route({
    method: 'GET',
    path: '/app/sign-up',
    auth: 'none',
    access: { feature: null, duringMaintenance: true },
    summary: 'Whether the service has its operator; where it has none, the next to sign up is',
    response: signUpStateShape,
    handle: async () => {
      hasOperator ||= await control.users.hasOperator();
      return { body: JSON.stringify({ has_operator: hasOperator }) };
    },
  });
}
