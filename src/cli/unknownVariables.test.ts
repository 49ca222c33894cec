import { expect, it } from 'vitest';
import { unknownVariables } from './unknownVariables.ts';

it.each([
  ['UNDERROUND_PROT', 'did you mean UNDERROUND_PORT?'],
  ['UNDERROUND_DATADIR', 'did you mean UNDERROUND_DATA_DIR?'],
  ['UNDERROUND_DATA_DIRECTORY', 'did you mean UNDERROUND_DATA_DIR?'],
  ['UNDERROUND_TLS_CRT', 'did you mean UNDERROUND_TLS_CERT?'],
  ['UNDERROUND_port', 'did you mean UNDERROUND_PORT?'],
  ['UNDERROUND_TYPO', 'docs/CONFIGURATION.md lists all'],
  ['UNDERROUND_SOMETHING_ELSE_ALTOGETHER', 'docs/CONFIGURATION.md lists all'],
])('%s has no effect', (name, hint) => {
  expect(unknownVariables({ [name]: 'x' })).toEqual([
    `${name} is not a known variable and has no effect; ${hint}`,
  ]);
});

it('ignores known variables and those of other programs', () => {
  expect(unknownVariables({ UNDERROUND_PORT: '1', PATH: 'x', MY_UNDERROUND_PORT: 'x' })).toEqual([]);
});
