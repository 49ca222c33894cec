import { CONFIG_VARIABLES } from '../../src/config.ts';

/** The environment of a service that uses no venue. */
export const VENUES_OFF: Readonly<Record<string, string>> = Object.fromEntries(
  [...CONFIG_VARIABLES.keys()]
    .filter((name) => /^UNDERROUND_.*_URL$/.test(name))
    .map((name) => [name, 'off']),
);
