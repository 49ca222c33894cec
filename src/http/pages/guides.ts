/** A page of the documentation, by its Markdown source in the repository. */
interface Guide {
  readonly title: string;
  /** Relative to the project. */
  readonly source: string;
  /** Where the web page is served. */
  readonly path: string;
}

export interface GuideGroup {
  readonly name: string;
  readonly guides: readonly Guide[];
}

/** Names of groups, and their pages in reading order: file in `docs/` and title in the navigation. */
const GROUPS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Start',
    [
      ['QUICK_START', 'Quick start'],
      ['CONCEPTS', 'Concepts'],
      ['RECIPES', 'Recipes'],
      ['DEMO', 'The demo’s markets'],
      ['GLOSSARY', 'Glossary'],
    ],
  ],
  [
    'Use it',
    [
      ['API', 'HTTP API'],
      ['CLIENTS', 'Clients'],
      ['EXPORTS', 'Exports'],
      ['IMPORT', 'Imports'],
      ['STREAMS', 'Streams'],
      ['WEBHOOKS', 'Webhooks'],
      ['MCP', 'MCP server'],
      ['DASHBOARD', 'Dashboard'],
      ['ACCOUNTS', 'Accounts'],
      ['ERRORS', 'Errors'],
    ],
  ],
  [
    'Trust it',
    [
      ['TRUST', 'Trust and gaps'],
      ['SETTLEMENT', 'Settlement'],
      ['LOOKAHEAD', 'Look-ahead traps'],
      ['CALIBRATION', 'Calibration'],
      ['SIGNALS', 'Signals and audit'],
      ['PRICING', 'Pricing'],
    ],
  ],
  [
    'Trade on it',
    [
      ['STRATEGIES', 'Strategies'],
      ['STRATEGIES_OF_YOUR_OWN', 'Strategies of your own'],
      ['ENGINE', 'Engine'],
      ['BACKTEST', 'Backtests'],
      ['REPORT', 'Reports'],
      ['PAPER', 'Paper trading'],
    ],
  ],
  [
    'Run it',
    [
      ['DEPLOYMENT', 'Deployment'],
      ['PRODUCTION', 'Production'],
      ['CONFIGURATION', 'Configuration'],
      ['MONITORING', 'Monitoring'],
      ['BACKUP', 'Backup and restore'],
      ['UPGRADING', 'Upgrading'],
      ['SCALING', 'Beyond one machine'],
      ['STORE', 'Store'],
      ['BENCHMARKS', 'Benchmarks'],
    ],
  ],
  [
    'Change it',
    [
      ['ARCHITECTURE', 'Architecture'],
      ['ADDING_A_VENUE', 'Adding a venue'],
      ['ADDING_AN_ENDPOINT', 'Adding an endpoint'],
      ['DEPENDENCIES', 'Dependencies'],
    ],
  ],
];
const DESIGN = 'design/';

/** Pages whose source is outside `docs/`; only the built site has them. */
const ELSEWHERE: readonly Guide[] = [
  { title: 'Client for TypeScript', source: 'client/README.md', path: '/docs/client-typescript' },
  { title: 'Client for Python', source: 'clients/python/README.md', path: '/docs/client-python' },
  { title: 'Changelog', source: 'CHANGELOG.md', path: '/docs/changelog' },
];

/**
 * The navigation over the documents that exist. A document that no group names is in the group *More*.
 * @param names Files relative to `docs/`, such as `API.md` and `design/DECISIONS.md`.
 */
export function guideGroups(names: readonly string[]): GuideGroup[] {
  const stems = names.filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -'.md'.length));
  const named = new Set(GROUPS.flatMap(([, guides]) => guides.map(([stem]) => stem)));
  const others = stems.filter((stem) => !named.has(stem)).sort();
  const untitled = (stem: string) => guideOf(stem, titleOf(stem.replace(DESIGN, '')));
  const groups = [
    ...GROUPS.map(([name, guides]) => ({
      name,
      guides: guides.filter(([stem]) => stems.includes(stem)).map(([stem, title]) => guideOf(stem, title)),
    })),
    { name: 'Design', guides: others.filter((stem) => stem.startsWith(DESIGN)).map(untitled) },
    {
      name: 'More',
      guides: [...others.filter((stem) => !stem.startsWith(DESIGN)).map(untitled), ...ELSEWHERE],
    },
  ];
  return groups.filter(({ guides }) => guides.length > 0);
}

function guideOf(stem: string, title: string): Guide {
  return {
    title,
    source: `docs/${stem}.md`,
    path: `/docs/${stem.toLowerCase().replaceAll('_', '-')}`,
  };
}

function titleOf(stem: string): string {
  const words = stem.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
